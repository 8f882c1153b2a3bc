// Options that are no settings: they say what this run is about.

/** `tts -f`. */
export const FILE = {
  flags: '-f, --file <file|->',
  help: 'the text from a file (repeatable); "-" is stdin',
};
export const HELP = { flags: '-h, --help', help: 'this help' };
export const VERSION = { flags: '-V, --version', help: 'the version' };
