import type { ManifestEntry } from '../../batch/manifest.ts';
import { RecordFile } from '../../batch/record-file.ts';
import { readTable } from '../../batch/table.ts';
import { usageError } from '../../error.ts';
import { decode } from '../../reading/decode.ts';
import { openFile } from '../../reading/source.ts';
import type { Context } from '../context.ts';

/** A person has heard that this sound says its text. The key stands for the text and the voice. */
export type Approval = Pick<ManifestEntry, 'id' | 'key' | 'sha256'>;

export function approvalOf({ id, key, sha256 }: Approval): Approval {
  return { id, key, sha256 };
}

/** The lines of a file that a report has saved. A row may have several: any of them counts. */
export class Approvals implements Disposable {
  readonly #lines = new RecordFile<Approval>(
    ({ id }) => `id ${id}`,
    (approval) => `line ${JSON.stringify(approvalOf(approval))}`,
  );

  /** @throws TtsError (usage) for a file that cannot be read or is none of a report */
  static async read(name: string, { host, signal }: Pick<Context, 'host' | 'signal'>): Promise<Approvals> {
    const approvals = new Approvals();
    try {
      const text = decode(openFile(name, host.cwd, signal), name);
      for await (const { line, cells, fault } of readTable(text, 'jsonl', name)) {
        const [id, key, sha256] = ['id', 'key', 'sha256'].map((field) => cells.get(field));
        if (fault !== undefined || id === undefined || key === undefined || sha256 === undefined)
          throw usageError(
            `--approved ${name}, line ${line}: this is not a line of a report's approved.jsonl`,
            'save the file with the button of the page that --report writes',
          );
        approvals.#lines.add({ id, key, sha256 });
      }
      return approvals;
    } catch (error) {
      approvals[Symbol.dispose]();
      throw error;
    }
  }

  /** @returns `undefined` for a sound that is approved, and otherwise what is wrong */
  faultOf(approval: Approval): 'not approved' | 'changed since it was approved' | undefined {
    if (this.#lines.find(1, `line ${JSON.stringify(approvalOf(approval))}`) !== undefined) return undefined;
    return this.#lines.find(0, `id ${approval.id}`) === undefined
      ? 'not approved'
      : 'changed since it was approved';
  }

  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]();
  }
}
