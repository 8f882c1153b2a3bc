/** Whether four bytes could name a RIFF chunk: printable ASCII, as all registered names are. */
export function isFourCC(bytes: Uint8Array, at: number): boolean {
  if (bytes.length < at + 4) return false;
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}

/** Four bytes as the name they are; fewer where the bytes end. */
export function fourCC(bytes: Uint8Array, at = 0): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
