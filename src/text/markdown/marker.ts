/**
 * What GitHub marks at the start of an item or quote: the box of a task is silent; the kind of an alert ("[!NOTE]")
 * is its first word.
 * @param container the type of the token that the paragraph opens in
 */
export function spokenMarker(paragraph: string, container: string | undefined): string {
  if (container === 'list_item_open') return paragraph.replace(/^\[[ xX]\]\s+/u, '');
  if (container !== 'blockquote_open') return paragraph;
  return paragraph.replace(
    /^\[!(\p{L})(\p{L}{0,20})\]\s*/u,
    (_, first, rest) => `${first.toUpperCase()}${rest.toLowerCase()}: `,
  );
}
