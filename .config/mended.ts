import type { Plugin } from 'rolldown';
import { Used } from './used.ts';

interface Mend {
  readonly module: RegExp;
  readonly wrong: string;
  readonly right: string;
}

const CLIENT = /\/undici\/lib\/dispatcher\/client-h1\.js$/;
const SOCKS_CLIENT = /\/undici\/lib\/core\/socks5-client\.js$/;
const SOCKS = /\/undici\/lib\/dispatcher\/socks5-proxy-agent\.js$/;

/** What is wrong in bundled packages for this tool, and cannot be mended from outside. Tests on the built program hold each. */
const MENDED: readonly Mend[] = [
  // A client has to put up with a `100 Continue` that it did not ask for (RFC 9110, section 15.2); undici ends the connection.
  { module: CLIENT, wrong: 'if (statusCode === 100) {', right: 'if (false) {' },
  // An address is no name of a server (RFC 6066, section 3): Node 26 refuses it.
  {
    module: SOCKS,
    wrong: 'servername: this[kRequestTls]?.servername || targetHost',
    right: "host: targetHost, servername: require('node:net').isIP(targetHost) ? '' : targetHost",
  },
  // A proxy that closes instead of answering would be waited for.
  {
    module: SOCKS_CLIENT,
    wrong: "this.state = STATES.CLOSED\n    this.emit('close')",
    right: `const isEarly = this.state !== STATES.CONNECTED && this.state !== STATES.ERROR
    this.state = STATES.CLOSED
    if (isEarly) this.emit('error', new Socks5ProxyError('closed', 'UND_ERR_SOCKS5_CLOSED'))
    this.emit('close')`,
  },
  // A request that waits until it is certain that a kept connection still stands is lost with it where that is reset; where
  // it is closed, undici sends the request over another.
  {
    module: CLIENT,
    wrong: 'this[kError] = err\n\n  this[kClient][kOnError](err)',
    right: 'this[kError] = err\n\n  if (this[kIdleSocketValidation] !== 1) this[kClient][kOnError](err)',
  },
  // A connection that rests is not read: see src/client/feed.ts.
  {
    module: CLIENT,
    wrong: 'while (!this.paused && this.ptr) {',
    right: 'while (!this.paused && !this.socket.rests && this.ptr) {',
  },
];

/** @throws where a package has changed, so that no mend is lost in silence */
export function mended(): Plugin {
  const used = new Used(MENDED);
  return {
    name: 'mended',
    ...used.hooks('.config/mended.ts'),
    transform(code, id) {
      const mends = MENDED.filter(({ module }) => module.test(id));
      for (const mend of mends) {
        if (code.split(mend.wrong).length !== 2)
          throw new Error(`${id} has changed: look at .config/mended.ts`);
        used.add(mend);
      }
      return mends.reduce((mended, { wrong, right }) => mended.replace(wrong, () => right), code);
    },
  };
}
