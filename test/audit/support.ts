// An audit log with its chain: rows, checkpoints in a file, and the alarms that were raised.

import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import type { Alarm } from '../../src/core/audit/alarm.ts';
import { type AuditChain, createAuditChain } from '../../src/core/audit/chain/chain.ts';
import { createOutsideCheckpoints } from '../../src/core/audit/chain/outside-checkpoints.ts';
import { openPeople } from '../accounts/fixture.ts';
import { testFolder } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

/** Opens one; close it in afterAll. */
export async function openAuditLog() {
  const people = await openPeople();
  const file = path.join(testFolder(), 'checkpoints.jsonl');
  const checkpointKey = { id: 'k1', privateKey: generateKeyPairSync('ed25519').privateKey };
  const raised: string[] = [];
  const posted: string[] = [];
  const alarm: Alarm = { raise: async (_kind, message) => void raised.push(message) };
  const post: typeof fetch = async (_url, init) => {
    posted.push(String(init?.body));
    return new Response();
  };

  /** Another process on the same database; `vault` and `checkpointFile` may differ. */
  const startChain = (other: Partial<typeof people> & { checkpointFile?: string } = {}): AuditChain => {
    const outside = createOutsideCheckpoints({
      file: other.checkpointFile ?? file,
      url: 'https://siem.example.com/checkpoints',
      fetch: post,
      key: checkpointKey,
      logger: people.logger,
    });
    return createAuditChain({ ...servicesOf({ ...people, ...other }), checkpointKey, outside, alarm });
  };

  const chain = startChain();
  await chain.begin();

  /** Records events a minute apart. */
  const events = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      people.clock.advance({ minutes: 1 });
      await people.audit.record({
        type: 'browser.forgotten',
        outcome: 'success',
        subjectId: `s${index}`,
        data: { count: index },
      });
    }
  };
  const entry = (chainSeq: number) => people.db.auditEvent.findUniqueOrThrow({ where: { chainSeq } });
  const faults = async () => {
    const result = await chain.verify();
    return result.ok ? [] : result.faults;
  };
  return { ...people, chain, startChain, checkpointKey, file, raised, posted, events, entry, faults };
}

export type AuditLog = Awaited<ReturnType<typeof openAuditLog>>;
