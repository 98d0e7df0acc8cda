// Whether received events are all that a stream sent between the first and the last, from the events alone: each names the one before it, and
// the hash of a neighbor in the audit chain follows from it (docs/operating.md). What an event says is not checked, because its digest is salted,
// and nothing is signed: this finds what was lost, and not what someone changed who can write the file.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { linkHash } from '../../core/audit/chain/link.ts';
import { TEST } from './event.ts';

const place = z.object({ seq: z.int(), hash: z.string() });
const received = z.object({
  type: z.string(),
  data: z.object({ id: z.int() }),
  chain: place.extend({ digest: z.string(), after: place.nullable() }),
});
type Received = z.output<typeof received> & {
  /** Hash of all of it but its place, and of people their ids alone: their names are those of the moment. */
  content: string;
};

export interface EventsResult {
  ok: boolean;
  /** Each event once, however often it was received. */
  events: number;
  first: number | null;
  last: number | null;
  faults: { kind: 'missing' | 'changed' | 'unreadable'; message: string }[];
}

const MAX_FAULTS = 100;

/** @param text piece by piece: on each line an event, a list of events, or what a SIEM stores of one, in each format */
export function verifyEvents(text: string | Iterable<Buffer>): EventsResult {
  const faults: EventsResult['faults'] = [];
  const add = (kind: 'missing' | 'changed' | 'unreadable', message: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ kind, message });
  };
  const bySeq = new Map<number, Received>();
  let number = 0;
  for (const line of linesOf(typeof text === 'string' ? [Buffer.from(text)] : text)) {
    number += 1;
    if (line.trim() === '') continue;
    const events = eventsIn(line);
    if (!events) add('unreadable', `Line ${number} is no event.`);
    for (const event of events ?? []) {
      const before = bySeq.get(event.chain.seq);
      if (before && (before.chain.hash !== event.chain.hash || before.content !== event.content))
        add('changed', `Event ${event.chain.seq} was received twice with different content.`);
      // The beginning of a replay does not say which event is before it.
      if (!before?.chain.after) bySeq.set(event.chain.seq, event);
    }
  }
  const sorted = [...bySeq.values()].sort((a, b) => a.chain.seq - b.chain.seq);
  for (const [index, { chain, data }] of sorted.entries()) {
    const before = sorted[index - 1]?.chain;
    const { seq, hash, digest, after } = chain;
    if (before && after && (after.seq !== before.seq || after.hash !== before.hash))
      add('missing', `Between ${before.seq} and ${seq}, events are missing: ${after.seq} comes before ${seq}.`);
    if (before && !after && before.seq !== seq - 1)
      add('missing', `Nothing proves that no event is missing between ${before.seq} and ${seq}.`);
    const link = after?.seq === seq - 1 ? after : before?.seq === seq - 1 ? before : undefined;
    if (link && linkHash(link.hash, { chainSeq: seq, id: data.id, digest }) !== hash)
      add('changed', `The hash of event ${seq} is wrong.`);
  }
  return {
    ok: faults.length === 0,
    events: sorted.length,
    first: sorted[0]?.chain.seq ?? null,
    last: sorted.at(-1)?.chain.seq ?? null,
    faults,
  };
}

/** The messages of a stream of syslog, each after its length in bytes (RFC 6587 3.4.1), or the lines. */
function* linesOf(pieces: Iterable<Buffer>): Generator<string> {
  let rest = Buffer.alloc(0);
  let isCounted: boolean | undefined;
  for (const piece of pieces) {
    rest = Buffer.concat([rest, piece]);
    // The beginning of a piece may be shorter than a length.
    isCounted ??= rest.length < HEAD ? undefined : COUNTED.test(rest.toString('latin1', 0, HEAD));
    if (isCounted === undefined) continue;
    const { lines, end } = isCounted ? countedIn(rest) : linesIn(rest);
    yield* lines;
    rest = rest.subarray(end);
  }
  if (isCounted ?? COUNTED.test(rest.toString('latin1', 0, HEAD))) {
    const { lines, end } = countedIn(rest);
    yield* lines;
    rest = rest.subarray(end);
    if (rest.length > 0) yield rest.toString();
  } else yield* rest.toString().split('\n');
}

const COUNTED = /^\d+ <\d+>1 /;
const HEAD = 32;

function linesIn(bytes: Buffer): { lines: string[]; end: number } {
  const end = bytes.lastIndexOf('\n') + 1;
  return { lines: end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n'), end };
}

function countedIn(bytes: Buffer): { lines: string[]; end: number } {
  const lines: string[] = [];
  let end = 0;
  for (;;) {
    const [prefix, length] = /^\s*(\d+) /.exec(bytes.toString('latin1', end, end + 16)) ?? [''];
    const begin = end + prefix.length;
    const until = begin + Number(length);
    if (length === undefined || until > bytes.length) return { lines, end };
    lines.push(bytes.toString('utf8', begin, until));
    end = until;
  }
}

/** Those of a line, without tests of the stream. A syslog server writes a header of its own before the event. */
function eventsIn(line: string): Received[] | undefined {
  try {
    const own = line.trim();
    const value: unknown = JSON.parse(/^[[{]/.test(own) ? own : own.slice(own.indexOf('{')));
    const list = (Array.isArray(value) ? value : [value]) as (Stored | null)[];
    return list.flatMap((one) => {
      const event = received.parse(eventOf(one));
      return event.type === TEST ? [] : { ...event, content: contentOf(one) };
    });
  } catch {
    return undefined;
  }
}

interface Stored {
  /** Of Splunk and Elastic Common Schema. */
  event?: { action?: unknown; id?: unknown };
  /** Of Elastic Common Schema. */
  gatehouse?: { chain?: unknown };
  /** A hit of Elasticsearch. */
  _source?: Stored;
  /** Of OCSF. */
  metadata?: { event_code?: unknown; uid?: unknown };
  unmapped?: { chain?: unknown };
}

/** The event in each format of a SIEM. */
function eventOf(stored: Stored | null): unknown {
  const { event, gatehouse, metadata, unmapped, _source: source } = stored ?? {};
  if (source) return eventOf(source);
  if (gatehouse) return { type: event?.action, data: { id: Number(event?.id) }, chain: gatehouse.chain };
  if (unmapped) return { type: metadata?.event_code, data: { id: Number(metadata?.uid) }, chain: unmapped.chain };
  return event ?? stored;
}

const PEOPLE = new Set(['actor', 'subject', 'user']);

function contentOf(stored: Stored | null): string {
  const { event, gatehouse, unmapped, _source: source } = stored ?? {};
  const content = source ?? (gatehouse || unmapped ? stored : (event ?? stored));
  const text = JSON.stringify(content, (key, value) => {
    if (key === 'chain') return undefined;
    return (PEOPLE.has(key) && (value?.id ?? value?.uid)) || value;
  });
  return createHash('sha256').update(text).digest('base64url');
}
