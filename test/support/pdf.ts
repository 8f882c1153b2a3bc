/**
 * Makes a PDF (ISO 32000-1).
 * @param pages lines of text, in which characters of the PDF syntax are not escaped
 * @param outline titles with the page that each links to, from 0
 */
export function pdfOf(
  pages: readonly (readonly string[])[],
  outline: readonly (readonly [title: string, page: number])[] = [],
): Buffer {
  const [firstPage, firstContent, firstItem] = [5, 5 + pages.length, 5 + 2 * pages.length];
  const items = outline.map(([title, page], at) => {
    const next = at + 1 < outline.length ? `/Next ${firstItem + at + 1} 0 R` : '';
    const before = at > 0 ? `/Prev ${firstItem + at - 1} 0 R` : '';
    return `<</Title (${title})/Parent 4 0 R${before}${next}/Dest [${firstPage + page} 0 R /Fit]>>`;
  });
  const ends = items.length > 0 ? `/First ${firstItem} 0 R/Last ${firstItem + items.length - 1} 0 R` : '';
  const objects = [
    '<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids [${pages.map((_, at) => `${firstPage + at} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    `<</Type/Outlines${ends}/Count ${items.length}>>`,
    ...pages.map(
      (_, at) =>
        `<</Type/Page/Parent 2 0 R/MediaBox [0 0 400 600]/Resources<</Font<</F 3 0 R>>>>/Contents ${firstContent + at} 0 R>>`,
    ),
    ...pages.map((lines) => {
      const shown = `BT /F 12 Tf 14 TL 20 560 Td ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
      return `<</Length ${shown.length}>>stream\n${shown}\nendstream`;
    }),
    ...items,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(
    `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`,
    'latin1',
  );
}
