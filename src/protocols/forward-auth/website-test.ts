// The test of a website: requests to `/.gatehouse/test` on its host, which its proxy asks about. Each is answered with a redirect to the
// console that carries a sealed report of what arrived, which only the administrator of the test can read there. The ticket of a request, which
// the website and its proxy see, is good for that request alone.
//
// `/.gatehouse/test/backend` is let through with made-up headers. If the proxy sends that path here, as its configuration may say
// (admin/applications/presets/proxies.ts), this server receives what the website would.

import { z } from 'zod';
import { proxyKinds, RESERVED_PATH } from '../../applications/fields/proxied-application.ts';
import { randomId } from '../../base/platform/random.ts';
import { isFirstUse } from '../../base/storage/seen-ids.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';

export const TEST_PATH = `${RESERVED_PATH}test`;
export const TEST_BACKEND_PATH = `${TEST_PATH}/backend`;
/** The value of each header about the user in a test, and that of headers that the test forges. */
export const TEST_VALUE = 'gatehouse-test';
export const FORGED_VALUE = 'gatehouse-forged';
export const TEST_COOKIE = 'gatehouse_test';
/** Of a session at a website; with prefix and port, where it has them. */
export const SESSION_COOKIE = 'gatehouse_app';
const MINUTES = 10;

const ticket = z.object({
  id: z.string(),
  /** The administrator; empty for the server itself. */
  by: z.string(),
  applicationId: z.string(),
  origin: z.string(),
  /**
   * Whether the headers about the user have values. Only after this server was seen to be behind the path: the website itself may create
   * an account for each name that it gets.
   */
  hasValues: z.boolean(),
  at: z.int(),
});
export type TestTicket = z.output<typeof ticket>;

const report = z.object({
  by: z.string(),
  applicationId: z.string(),
  at: z.int(),
  /** What the proxy asked. */
  question: z
    .object({
      proxy: z.enum(proxyKinds),
      method: z.string(),
      /** Whether it would be sent to the sign-in. */
      isNavigation: z.boolean(),
      hasCookie: z.boolean(),
      namesWebsite: z.boolean(),
      address: z.string(),
      /** The address of a proxy whose word about that of the user does not count. */
      untrusted: z.string().optional(),
    })
    .optional(),
  /** What the website would have received. */
  backend: z
    .object({
      hasValues: z.boolean(),
      /** Of each header about the user. */
      values: z.record(z.string(), z.array(z.string())),
      /** Names that may be read as one of them. */
      aliases: z.array(z.string()),
      /** Headers that have what this server accepts as a sign-in at the website. */
      secrets: z.array(z.string()),
    })
    .optional(),
});
export type TestReport = z.output<typeof report>;

/** Where a ticket is shown: to the question of the proxy, and then by the request that the website would receive. */
type Step = 'question' | 'backend';

/** Seals and opens what a test carries through the browser and the proxy. It is good for ten minutes. */
export function createTestTickets({ vault, sql, now }: Core) {
  function opened<Value extends { at: number }>(schema: z.ZodType<Value>, sealed: string, context: string) {
    try {
      const value = schema.parse(JSON.parse(vault.open(sealed, context).toString()));
      return value.at + MINUTES * 60_000 > now().getTime() ? value : undefined;
    } catch {
      return undefined;
    }
  }
  const at = () => now().getTime();
  const [TICKET, REPORT] = ['website test', 'website test report'];
  const idOf = ({ actorId = '' }: Actor) => actorId;
  const begin = (about: Omit<TestTicket, 'at' | 'id'>) =>
    vault.seal(JSON.stringify({ ...about, id: randomId(), at: at() }), TICKET);
  return {
    /** A ticket for one request. */
    begin: (about: Omit<TestTicket, 'at' | 'id' | 'by'>, by: Actor) => begin({ ...about, by: idOf(by) }),
    /** For the next request of the same test. */
    next: (ticket: TestTicket, hasValues: boolean) => begin({ ...ticket, hasValues }),
    /** The website of a ticket, which may be used up; undefined for one that is forged or too old. */
    originOf: (sealed: string) => opened(ticket, sealed, TICKET)?.origin,
    /** Uses the ticket up; undefined for one that is forged, too old or used. */
    async use(sealed: string, step: Step): Promise<TestTicket | undefined> {
      const found = opened(ticket, sealed, TICKET);
      if (!found) return undefined;
      const until = new Date(found.at + 2 * MINUTES * 60_000);
      return (await isFirstUse(sql, `website-test ${step} ${found.id}`, until)) ? found : undefined;
    },
    seal: (about: Omit<TestReport, 'at'>) => vault.seal(JSON.stringify({ ...about, at: at() }), REPORT),
    /** Undefined for one that is forged, too old, about another website or of another administrator's test. */
    read: (sealed: string, applicationId: string, by: Actor) => {
      const found = opened(report, sealed, REPORT);
      return found?.applicationId === applicationId && found.by === idOf(by) ? found : undefined;
    },
  };
}

/** Servers read some names as one: case does not count, nor do the marks that CGI turns into underscores (RFC 3875 4.1.18). */
const readAs = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '-');

/** What of these raw headers is about the user. */
export function receivedHeaders(rawHeaders: readonly string[], names: readonly string[]) {
  const values: Record<string, string[]> = Object.fromEntries(names.map((name) => [name, []]));
  const aliases = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [sent = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const name = names.find((one) => readAs(one) === readAs(sent));
    if (name === undefined) continue;
    if (name.toLowerCase() === sent.toLowerCase()) values[name]?.push(value.slice(0, 100));
    else aliases.add(sent.slice(0, 100));
  }
  return { values, aliases: [...aliases].slice(0, 50) };
}
