import { posix } from 'node:path';
import { usageError } from '../error.ts';
import { visible } from '../printable.ts';

/** Bytes. The source is NAME_MAX of Linux and macOS, and NTFS. */
const LONGEST_NAME = 255;

/** Windows keeps these names for devices, with any ending. */
export const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:[.:]|$)/i;

/** Windows allows none of these in the name of a file. */
const FORBIDDEN = /[<>:"|?*]/;

/** A value makes no folder, and its other signs are forbidden by Windows. */
const NOT_IN_NAMES = /[/\\:*?"<>|]/g;

type Piece = { readonly literal: string } | { readonly column: string };

export class NameTemplate {
  readonly #pieces: readonly Piece[];
  /** It lies before the first column: `prompts`, or `.`. */
  readonly fixedFolder: string;
  readonly columns: readonly string[];
  /** The values that could not be names as they were: how many, and the first. */
  readonly changed: { count: number; first: readonly [value: string, name: string] | undefined } = {
    count: 0,
    first: undefined,
  };

  /** @throws TtsError (usage) */
  constructor(template: string) {
    this.#pieces = parsePieces(template);
    this.columns = this.#pieces.flatMap((piece) => ('column' in piece ? [piece.column] : []));
    const [first] = this.#pieces;
    const start = first && 'literal' in first ? first.literal : '';
    this.fixedFolder = this.columns.length === 0 ? posix.dirname(start) : folderOf(start);
    if (/[/\\]$/.test(template) || template === '' || template === '-')
      throw usageError(
        `-o ${template}: a batch writes one file for each row`,
        "give a template of names: -o 'prompts/{id}.wav'",
      );
  }

  /**
   * Makes a name relative to the fixed folder, with "/".
   * @throws NameError
   */
  nameOf(cell: (column: string) => string | undefined): string {
    const name = this.#pieces
      .map((piece) => ('literal' in piece ? piece.literal : this.#part(piece.column, cell(piece.column))))
      .join('');
    const relative =
      this.fixedFolder === '.' ? name : name.slice(this.fixedFolder.length).replace(/^\/+/, '');
    assertSafe(relative);
    return posix.normalize(relative);
  }

  #part(column: string, cell: string | undefined): string {
    const value = checkedValue(column, cell);
    const name = value.replace(NOT_IN_NAMES, '_');
    if (name === value) return value;
    this.changed.count += 1;
    this.changed.first ??= [value, name];
    return name;
  }
}

export class NameError extends Error {
  /** The column is `undefined` if the whole name is wrong. */
  readonly column: string | undefined;

  constructor(message: string, column?: string) {
    super(message);
    this.column = column;
  }
}

function parsePieces(template: string): Piece[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part): Piece => {
      if (/^\{.+\}$/.test(part)) return { column: part.slice(1, -1).trim() };
      if (!/[{}]/.test(part)) return { literal: part };
      throw usageError(
        `-o ${template}: a brace is not closed or holds no column`,
        "write the name of a column in braces: -o '{id}.wav'",
      );
    });
}

function folderOf(start: string): string {
  const slash = start.lastIndexOf('/');
  if (slash === 0) return '/';
  return slash < 0 ? '.' : start.slice(0, slash).replace(/\/+$/, '');
}

function checkedValue(column: string, value: string | undefined): string {
  if (value === undefined) throw new NameError('the row has no such value', column);
  if (value.trim() === '')
    throw new NameError('the value is empty, but the name of the file needs it', column);
  const shown = `"${visible(value.slice(0, 80))}"`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\0-\x1f\x7f]/.test(value)) throw new NameError(`${shown} holds a control character`, column);
  if (/\p{Cs}/u.test(value)) throw new NameError(`${shown} holds half a character`, column);
  if (/^(?:[/\\]|[a-z]:[/\\])/i.test(value)) throw new NameError(`${shown} is an absolute name`, column);
  if (value.split(/[/\\]/).some((part) => part === '..' || part === '.'))
    throw new NameError(`${shown} leads to another folder`, column);
  return value;
}

/** A harmless value may become `con`, or too long, together with its neighbours. */
function assertSafe(name: string): void {
  for (const part of name.split(/[/\\]/)) {
    const shown = `"${visible(part.slice(0, 80))}"`;
    if (RESERVED.test(part)) throw new NameError(`${shown} is a name that Windows keeps for a device`);
    if (part === '..') throw new NameError(`${shown} leads to another folder`);
    if (FORBIDDEN.test(part)) throw new NameError(`${shown} holds a character that Windows forbids in names`);
    if (part !== '.' && /[. ]$/.test(part))
      throw new NameError(`${shown} ends with a dot or a space, which Windows drops`);
    if (Buffer.byteLength(part) > LONGEST_NAME - SUFFIX)
      throw new NameError(`${shown}… is too long for the name of a file`);
  }
}

/** Bytes. The name of a part file is longer by these. */
const SUFFIX = 24;
