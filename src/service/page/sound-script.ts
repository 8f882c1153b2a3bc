export const SOUND_SCRIPT = `
const SIZE_UNKNOWN = [0, 0xffffffff];

/** The format and the place of the samples; undefined if more bytes are needed. */
function readHeader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12) return undefined;
  if (tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new Error('The answer is not a WAV.');
  let format;
  for (let at = 12; at + 8 <= bytes.length; at += 8 + view.getUint32(at + 4, true)) {
    if (tag(at) === 'data') {
      if (!format || format.code !== 1 || format.bits !== 16) throw new Error('The answer is not 16-bit PCM.');
      return { ...format, start: at + 8, size: view.getUint32(at + 4, true) };
    }
    if (tag(at) !== 'fmt ') continue;
    if (at + 24 > bytes.length) return undefined;
    format = { code: view.getUint16(at + 8, true), channels: view.getUint16(at + 10, true), rate: view.getUint32(at + 12, true), bits: view.getUint16(at + 22, true) };
  }
  return undefined;
}

/** A header of 44 bytes with exact sizes. */
function makeHeader({ channels, rate }, size) {
  const bytes = new Uint8Array(44), view = new DataView(bytes.buffer);
  const tag = (at, text) => [...text].forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
  tag(0, 'RIFF'); view.setUint32(4, 36 + size, true); tag(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, channels, true);
  view.setUint32(24, rate, true); view.setUint32(28, rate * channels * 2, true);
  view.setUint16(32, channels * 2, true); view.setUint16(34, 16, true);
  tag(36, 'data'); view.setUint32(40, size, true);
  return bytes;
}

function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first); both.set(second, first.length);
  return both;
}

class Playback {
  #head = new Uint8Array(); #parts = []; format; size = 0;
  /** Returns the samples that are new, as bytes. */
  add(bytes) {
    let samples = bytes;
    if (!this.format) {
      this.#head = joined(this.#head, bytes);
      this.format = readHeader(this.#head);
      if (!this.format) return new Uint8Array();
      samples = this.#head.subarray(this.format.start);
    }
    this.size += samples.length;
    this.#parts.push(samples);
    // A browser keeps large blobs on disk.
    if (this.#parts.length > 256) this.#parts = [new Blob(this.#parts)];
    return samples;
  }
  get seconds() { return this.format ? this.size / this.format.channels / 2 / this.format.rate : 0 }
  /** Returns the complete WAV. Throws if samples are missing. */
  finish() {
    const { format, size } = this;
    if (!format) throw new Error('The answer is not a WAV.');
    if (size === 0) throw new Error('The answer holds no sound.');
    if (size % (format.channels * 2) || (!SIZE_UNKNOWN.includes(format.size) && format.size !== size)) throw new Error('The answer is not complete.');
    return new Blob([makeHeader(format, size), ...this.#parts], { type: 'audio/wav' });
  }
}

/** Seconds of sound that wait to be played, at most. */
const MOST_AHEAD = 60;

/** Plays samples as they arrive, without gaps as long as they come in time. */
class LivePlayer {
  #context; #rest = new Uint8Array(); #next = 0; #last;
  /** Call it while a key or a button is handled, since browsers allow sound only then. */
  constructor(rate) {
    try { this.#context = new AudioContext({ sampleRate: rate }) } catch { this.#context = new AudioContext() }
    this.#context.resume();
  }
  get ahead() { return this.#next - this.#context.currentTime }
  get isOver() { return this.#context.state === 'closed' }
  feed({ channels, rate }, bytes) {
    const all = joined(this.#rest, bytes), frame = channels * 2, frames = Math.floor(all.length / frame);
    this.#rest = all.slice(frames * frame);
    if (frames === 0 || this.isOver) return;
    const buffer = this.#context.createBuffer(channels, frames, rate), view = new DataView(all.buffer);
    for (let channel = 0; channel < channels; channel += 1) {
      const samples = buffer.getChannelData(channel);
      for (let at = 0; at < frames; at += 1) samples[at] = view.getInt16((at * channels + channel) * 2, true) / 32768;
    }
    const source = new AudioBufferSourceNode(this.#context, { buffer });
    source.connect(this.#context.destination);
    if (this.ahead < 0) this.#next = this.#context.currentTime + 0.1;
    source.start(this.#next);
    this.#next += buffer.duration;
    this.#last = source;
  }
  /** Waits while much sound is still to be played; the service waits, too. */
  async room(signal) {
    while (this.ahead > MOST_AHEAD && !this.isOver && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 200));
  }
  /** Calls back when the last sample was played. */
  finish(done) {
    const end = () => { this.stop(); done() };
    if (this.#last && !this.isOver) this.#last.onended = end;
  }
  stop() { if (!this.isOver) this.#context.close() }
}
`;
