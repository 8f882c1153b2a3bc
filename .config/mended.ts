import type { Plugin } from 'rolldown';

interface Mend {
  readonly module: RegExp;
  readonly wrong: string;
  readonly right: string;
}

/** What is wrong in bundled packages for this tool, and cannot be mended from outside. Tests on the built program hold each. */
const MENDED: readonly Mend[] = [
  // A client has to put up with a `100 Continue` that it did not ask for (RFC 9110, section 15.2); undici ends the connection.
  {
    module: /\/undici\/lib\/dispatcher\/client-h1\.js$/,
    wrong: 'if (statusCode === 100) {',
    right: 'if (false) {',
  },
];

/** @throws where a package has changed, so that no mend is lost in silence */
export function mended(): Plugin {
  return {
    name: 'mended',
    transform(code, id) {
      const mend = MENDED.find(({ module }) => module.test(id));
      if (!mend) return null;
      if (code.split(mend.wrong).length !== 2)
        throw new Error(`${id} has changed: look at .config/mended.ts`);
      return code.replace(mend.wrong, mend.right);
    },
  };
}
