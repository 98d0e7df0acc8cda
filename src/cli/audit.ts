// `gatehouse audit …`: verifies the audit log, also offline, and exports what an auditor needs for that.

import { createPublicKey, type KeyObject } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../base/platform/errors.ts';
import { plural } from '../base/platform/plural.ts';
import type { ChainResult } from '../core/audit/chain/check.ts';
import { formatCheckpoint } from '../core/audit/chain/checkpoint.ts';
import type { Services } from '../server/services.ts';
import { type Commands, type Input, jsonOption, type Result, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io } from './io.ts';

const PIECE_BYTES = 4 * 1024 * 1024;

export const auditCommands: Commands = {
  'audit verify': {
    summary: 'verify the audit log and list every changed, removed, added or moved entry',
    details: `The exit code is 1 if the log was changed. Entries join the chain a few seconds after they are written; those
that have not yet are counted.
Offline, with the checkpoints and the public key that the server exported, it needs no secret: give --public-key,
--checkpoints and the --database to verify, such as file:copy.db.`,
    options: {
      checkpoints: {
        type: 'string',
        value: 'FILE',
        help: 'checkpoints from outside of the database, one JSON object per line',
      },
      'public-key': { type: 'string', value: 'FILE', help: 'verify offline with this key (PEM), without the secret' },
      events: {
        type: 'string',
        value: 'FILE',
        help: 'verify what an event stream sent instead: as received, an event on each line',
      },
      database: { type: 'string', value: 'URL', help: 'with --public-key: the database, if not DATABASE_URL' },
      ...jsonOption,
    },
    async run(input, io) {
      const events = input.text('events');
      if (events !== undefined) return verifyReceived(events);
      const json = await (input.text('public-key') === undefined ? verifyHere(input, io) : verifyOffline(input));
      return { json, ...chainWords(json) };
    },
  },

  'audit checkpoints': {
    summary: 'print the signed checkpoints of the audit log, one JSON object per line',
    run: (_input, io) =>
      withServices(io, async ({ auditChain }) => {
        for (const checkpoint of await auditChain.checkpoints()) io.out(formatCheckpoint(checkpoint));
        return 0;
      }),
  },

  'audit public-key': {
    summary: 'print the public key that verifies the checkpoints of the audit log',
    run: (_input, io) =>
      withServices(io, async ({ auditChain }) => {
        io.out(auditChain.publicKey.trimEnd());
        return 0;
      }),
  },

  'audit accept-restore': {
    summary: 'accept that a restored database ends earlier than the checkpoint file says',
    details: `Run it after a restore, while no server runs: it renames the checkpoint file of this machine, so that the chain can
continue from the restored end, and records that in the audit log.`,
    async act(services) {
      const file = await acceptRestore(services);
      return {
        json: { file: file ?? null },
        text:
          file === undefined
            ? 'There is no checkpoint file on this machine, so there is nothing to accept.'
            : `The checkpoint file is now ${file}. The chain continues from the end of this database.`,
      };
    },
  },
};

/** Renames the checkpoint file of this machine and records that; resolves with the new name, undefined without a file. */
export async function acceptRestore({ audit, checkpoints, now }: Services): Promise<string | undefined> {
  const newest = await checkpoints.newest();
  const file = await checkpoints.setAside(now());
  if (file === undefined) return undefined;
  const data = { file, newest: newest?.seq ?? null, at: newest?.at.toISOString() ?? null };
  await audit.record({ type: 'audit.restore-accepted', outcome: 'success', data });
  return file;
}

async function verifyReceived(file: string): Promise<Result> {
  const { verifyEvents } = await import('../protocols/event-streams/verify.ts');
  const json = verifyEvents(piecesOf(file));
  const { ok, events, first, last, faults } = json;
  if (!ok) return { json, errors: faults.map(({ message }) => message) };
  const all = `${plural(events, 'event')} from position ${first} to ${last}: none is missing.`;
  return { json, text: events === 0 ? 'The file has no events.' : all };
}

function verifyHere(input: Input, io: Io): Promise<ChainResult> {
  if (input.text('database') !== undefined) throw new UsageError('--database needs --public-key');
  return withServices(io, async ({ auditChain }) => {
    const file = input.text('checkpoints');
    return auditChain.verify(file === undefined ? {} : { checkpoints: await readText(file) });
  });
}

async function verifyOffline(input: Input): Promise<ChainResult> {
  const [{ loadConfig }, { openDatabase }, { checkChain }, { parseCheckpoints }] = await Promise.all([
    import('../base/config.ts'),
    import('../base/storage/database.ts'),
    import('../core/audit/chain/check.ts'),
    import('../core/audit/chain/checkpoint.ts'),
  ]);
  const publicKey = readPublicKey(await readText(input.text('public-key') ?? ''));
  const file = input.text('checkpoints');
  const outside = await parseCheckpoints(file === undefined ? '' : await readText(file), publicKey);
  const { db, close } = await openDatabase(
    input.text('database') ?? loadConfig(undefined, { readOnly: true }).databaseUrl,
  );
  try {
    return await checkChain({ db, publicKey, outside });
  } finally {
    await close();
  }
}

/** A file piece by piece: the events of a year do not fit into one text. Throws UsageError. */
function* piecesOf(file: string): Generator<Buffer> {
  try {
    const descriptor = openSync(file, 'r');
    try {
      for (;;) {
        const piece = Buffer.alloc(PIECE_BYTES);
        const length = readSync(descriptor, piece);
        if (length === 0) return;
        yield piece.subarray(0, length);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function readPublicKey(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // reported below
  }
  throw new UsageError(
    '--public-key needs a file with an Ed25519 public key in PEM, as "gatehouse audit public-key" prints it',
  );
}

/** What verification without the secret leaves open. */
function provenText({ seq, at }: { seq: number; at: Date }, newest: number): string {
  if (seq === 0) return 'Without a checkpoint from outside the database, nothing proves that the log is complete.';
  const until = `The checkpoints prove the entries up to position ${seq}, of ${formatDate(at)}.`;
  const rest = 'Without the secret, nothing proves that no later entries were removed';
  return newest > seq
    ? `${until} ${rest}, or that the ${plural(newest - seq, 'later entry is', 'later entries are')} genuine.`
    : `${until} ${rest}.`;
}

export function chainWords(result: ChainResult): Pick<Result, 'text' | 'errors'> {
  if (result.ok)
    return {
      text: [
        `The audit log is intact: ${plural(result.entries, 'entry', 'entries')}.`,
        ...(result.unsealed > 0
          ? [`${plural(result.unsealed, 'newer entry', 'newer entries')} not in the chain yet.`]
          : []),
        ...(result.proven ? [provenText(result.proven, result.newest)] : []),
      ],
    };
  const faults = result.faults.flatMap(({ message, seq, at }) => [
    message,
    `  Place in the chain: ${seq === 0 ? 'none' : seq}${at ? `, about ${formatDate(at)}` : ''}.`,
  ]);
  return { errors: [...faults, 'Compare with a backup or an export.'] };
}
