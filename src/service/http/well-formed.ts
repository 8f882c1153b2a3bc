/** The beginning of a text that came from outside, without halves of surrogate pairs (which no UTF-8 can hold). */
export function wellFormedStart(text: string, length: number): string {
  return text.slice(0, length).replace(/\p{Surrogate}/gu, '\ufffd');
}
