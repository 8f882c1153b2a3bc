import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { emptyFolder } from './folder.ts';

/** Makes a certificate for 127.0.0.1 and localhost that is its own authority. */
export async function selfSigned(): Promise<{ key: string; cert: string; certFile: string }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 2, value: 'localhost' },
        ],
      },
    ],
  });
  const certFile = join(emptyFolder(), 'cert.pem');
  writeFileSync(certFile, cert);
  return { key, cert, certFile };
}
