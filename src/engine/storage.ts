import { tmpdir } from 'node:os';
import { unwritable } from '../files/writable.ts';
import { Refusal } from './contract.ts';

/** RFC 4918, section 11.5. */
const INSUFFICIENT_STORAGE = 507;

/**
 * @param cause the error of a temporary file
 * @throws Refusal 507 that names the temporary folder
 */
export function refuseStorage(cause: unknown): never {
  throw new Refusal(INSUFFICIENT_STORAGE, 'storage_failed', unwritable(tmpdir(), cause).message);
}
