// The test of a website: requests to `/.gatehouse/test` on its host, which its proxy asks about. Each is answered with a redirect to the
// console that carries a sealed report of what arrived, so nothing is stored, and only an administrator's test has one.
//
// `/.gatehouse/test/backend` is let through with made-up headers. If the proxy sends that path here, as its configuration may say
// (admin/applications/presets/proxies.ts), this server receives what the website would.

import { z } from 'zod';
import { proxyKinds, RESERVED_PATH } from '../../applications/fields/proxied-application.ts';
import type { Core } from '../../core/core.ts';

export const TEST_PATH = `${RESERVED_PATH}test`;
export const TEST_BACKEND_PATH = `${TEST_PATH}/backend`;
/** The value of each header about the user in a test, and that of headers that the test forges. */
export const TEST_VALUE = 'gatehouse-test';
export const FORGED_VALUE = 'gatehouse-forged';
export const TEST_COOKIE = 'gatehouse_test';
const MINUTES = 10;

const ticket = z.object({
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
    })
    .optional(),
  /** What the website would have received: the values of each header about the user, and names that may be read as one of them. */
  backend: z
    .object({ hasValues: z.boolean(), values: z.record(z.string(), z.array(z.string())), aliases: z.array(z.string()) })
    .optional(),
});
export type TestReport = z.output<typeof report>;

/** Seals and opens what a test carries through the browser and the proxy. It is good for ten minutes. */
export function createTestTickets({ vault, now }: Pick<Core, 'vault' | 'now'>) {
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
  return {
    begin: (about: Omit<TestTicket, 'at'>) => vault.seal(JSON.stringify({ ...about, at: at() }), TICKET),
    /** Undefined for one that is forged or too old. */
    open: (sealed: string) => opened(ticket, sealed, TICKET),
    seal: (about: Omit<TestReport, 'at'>) => vault.seal(JSON.stringify({ ...about, at: at() }), REPORT),
    read: (sealed: string, applicationId: string) => {
      const found = opened(report, sealed, REPORT);
      return found?.applicationId === applicationId ? found : undefined;
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
