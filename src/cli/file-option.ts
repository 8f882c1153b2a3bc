/** `tts -f`: no setting, since it says what this run is about. */
export const FILE = {
  flags: '-f, --file <file|->',
  help: 'the text from a file (repeatable); "-" is stdin',
};
