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

interface EventFault {
  kind: 'missing' | 'changed' | 'unreadable';
  message: string;
}

export interface EventsResult {
  ok: boolean;
  /** Each event once, however often it was received. */
  events: number;
  first: number | null;
  last: number | null;
  faults: EventFault[];
}

const MAX_FAULTS = 100;

type AddFault = (kind: EventFault['kind'], message: string) => void;

/** @param text piece by piece: on each line an event, a list of events, or what a SIEM stores of one, in each format */
export function verifyEvents(text: string | Iterable<Buffer>): EventsResult {
  const faults: EventFault[] = [];
  const add: AddFault = (kind, message) => {
    if (faults.length < MAX_FAULTS) faults.push({ kind, message });
  };
  const events = eventsOnce(linesOf(typeof text === 'string' ? [Buffer.from(text)] : text), add);
  for (const [index, event] of events.entries()) checkOrder(event, events[index - 1], add);
  return {
    ok: faults.length === 0,
    events: events.length,
    first: events[0]?.chain.seq ?? null,
    last: events.at(-1)?.chain.seq ?? null,
    faults,
  };
}

/** The events of the lines by their position, each once. */
function eventsOnce(lines: Iterable<string>, add: AddFault): Received[] {
  const bySeq = new Map<number, Received>();
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const events = eventsIn(line);
    if (!events) add('unreadable', `Line ${number} is no event.`);
    for (const event of events ?? []) {
      const { seq, hash } = event.chain;
      const earlier = bySeq.get(seq);
      if (earlier && (earlier.chain.hash !== hash || earlier.content !== event.content))
        add('changed', `Event ${seq} was received twice with different content.`);
      // The beginning of a replay does not say which event is before it.
      if (!earlier?.chain.after) bySeq.set(seq, event);
    }
  }
  return [...bySeq.values()].sort((a, b) => a.chain.seq - b.chain.seq);
}

/** Adds a fault where events are missing between the previous event and this one, or the hash does not follow from that of its neighbor. */
function checkOrder({ chain, data }: Received, previous: Received | undefined, add: AddFault): void {
  const { seq, hash, digest, after } = chain;
  const before = previous?.chain;
  if (before && after && (after.seq !== before.seq || after.hash !== before.hash))
    add('missing', `Between ${before.seq} and ${seq}, events are missing: ${after.seq} comes before ${seq}.`);
  if (before && !after && before.seq !== seq - 1)
    add('missing', `Nothing proves that no event is missing between ${before.seq} and ${seq}.`);
  const neighbor = [after, before].find((one) => one?.seq === seq - 1);
  if (neighbor && linkHash(neighbor.hash, { chainSeq: seq, id: data.id, digest }) !== hash)
    add('changed', `The hash of event ${seq} is wrong.`);
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
