/** Each event is one line of JSON (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
function event(data: object): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

/** Nobody counts tokens here. */
const USAGE = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** @param sound the bytes of an encoding; the events hold them in base64 */
export async function* asEvents(sound: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of sound) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('base64');
    yield event({ type: 'speech.audio.delta', audio });
  }
  yield event({ type: 'speech.audio.done', usage: USAGE });
}
