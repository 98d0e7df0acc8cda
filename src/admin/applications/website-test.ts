// The test of a website: what its proxy does with requests, tried through it from here and from the browser
// (protocols/forward-auth/website-test.ts). Each check says what arrived, and which part of the configuration is about it.

import type { ProxiedApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { headersOf, isOnHostOf, JWT_HEADER, letsProgramsIn } from '../../applications/fields/proxied-application.ts';
import { limits } from '../../base/limits.ts';
import { createOutgoingFetch, OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { listOf, type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import type { People } from '../../people/people.ts';
import { rulesFor } from '../../protocols/forward-auth/path-rules.ts';
import {
  createTestTickets,
  FORGED_VALUE,
  SESSION_COOKIE,
  TEST_BACKEND_PATH,
  TEST_COOKIE,
  TEST_PATH,
  TEST_VALUE,
  type TestReport,
} from '../../protocols/forward-auth/website-test.ts';
import type { Rule } from '../console/blocks.ts';
import { MARKS, proxies, type TestedPart } from './presets/proxies.ts';

/** One check, with the part of the configuration to compare. */
export interface Tested extends Rule {
  part?: TestedPart;
  header?: string;
}

/** The test of a website by an administrator. */
interface Test {
  application: ProxiedApplication;
  by: Actor;
}

interface Answer {
  status: number;
  report: TestReport | undefined;
  hasCookie: boolean;
  location: string;
  /** Of a rejected request: the proxy asked. */
  reference: string | undefined;
}

/** With what a website must not receive. */
const asPage = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  cookie: `${TEST_COOKIE}=1; ${SESSION_COOKIE}=${FORGED_VALUE}`,
};
const asProgram = { accept: 'application/json', 'sec-fetch-mode': 'cors' };
/** HTTP/2 (RFC 7540 3.2), and one of which proxies know nothing. */
const OTHER_PROTOCOLS = ['h2c', 'tcp'];
/** An address of documentation (RFC 5737), which is nobody's. */
const FORGED_ADDRESS = '192.0.2.66';
/** Longer than each proxy waits for an answer (docs/forward-auth.md), but Traefik. */
const TIMEOUT_MS = 10_000;
/** So many paths are tried, each with one request. */
const MAX_PATHS = 7;

export type WebsiteTest = ReturnType<typeof createWebsiteTest>;

export function createWebsiteTest(core: Core & People & ApplicationServices) {
  const { outgoingRules, applications, rejections } = core;
  const { maxBytes } = limits.outgoing;
  const outgoing = createOutgoingFetch({ rules: outgoingRules, timeoutMs: TIMEOUT_MS, maxBytes });
  const { issuer } = core.config;
  const tickets = createTestTickets(core);

  const queryFor = ({ id, clientId }: ProxiedApplication, by: Actor, hasValues = false) =>
    `ticket=${tickets.begin({ applicationId: id, origin: clientId, hasValues }, by)}`;

  /** One request to the website alone: its redirects are not followed. */
  async function ask(
    { application, by }: Test,
    path: string,
    headers: Record<string, string>,
    hasValues?: boolean,
  ): Promise<Answer> {
    const query = path.startsWith(TEST_PATH) ? `?${queryFor(application, by, hasValues)}` : '';
    const response = await outgoing(`${application.clientId}${path}${query}`, { headers, redirect: 'manual' });
    const location = response.headers.get('location') ?? '';
    const sealed = URL.canParse(location) ? new URL(location).searchParams.get('report') : null;
    return {
      status: response.status,
      location,
      report: sealed === null ? undefined : tickets.read(sealed, application.id, by),
      hasCookie: response.headers.getSetCookie().some((cookie) => cookie.startsWith(`${TEST_COOKIE}=`)),
      reference: response.headers.get('x-gatehouse-reference') ?? undefined,
    };
  }

  async function run(application: ProxiedApplication, by: Actor): Promise<Tested[]> {
    const test = { application, by };
    const host = await hostCheck(application);
    // Every question is rejected.
    if (host.state === 'failed') return [host];
    if (!application.enabled)
      return [
        { label: t('console.website-test.enabled'), state: 'failed', explanation: t('console.website-test.disabled') },
      ];
    try {
      const plain = await ask(test, TEST_PATH, asPage);
      if (!plain.report && plain.reference !== undefined)
        return [reached, ...(await rejectedChecks(application, plain.reference))];
      const asked = askedChecks(application, plain);
      const ways = await wayChecks(test);
      const isAsked = plain.report !== undefined;
      return [
        reached,
        ...asked,
        ...(isAsked ? await metadataChecks(test) : []),
        ...ways,
        host,
        ...(await dependencyChecks(application)),
        ...(isAsked ? await backendChecks(test) : []),
      ];
    } catch (error) {
      const explanation = t('console.website-test.not-reached', { why: whyOf(error) });
      return [{ label: t('console.website-test.reach'), state: 'skipped', explanation }];
    }
  }

  /** Browsers send the cookies of this server, or of another website, to each port of its host. */
  async function hostCheck({ clientId }: ProxiedApplication): Promise<Tested> {
    const label = t('console.website-test.host');
    const host = new URL(clientId).hostname;
    if (isOnHostOf(issuer, clientId))
      return { label, state: 'failed', explanation: t('console.fault.host-of-issuer', { field: clientId, host }) };
    const { applications: found } = await applications.list({ search: `//${host}`, protocol: 'proxy', enabled: true });
    const isShared = found.some((other) => other.clientId !== clientId && isOnHostOf(clientId, other.clientId));
    if (!isShared) return { label, state: 'passed' };
    return { label, state: 'warning', explanation: t('console.website-test.host-shared', { host }) };
  }

  /** The proxy asked, and this server did not know what to answer. */
  async function rejectedChecks({ clientId }: ProxiedApplication, reference: string): Promise<Tested[]> {
    const broken = (await rejections.find(reference))?.rules.find(({ state }) => state === 'failed');
    return [
      { label: t('console.website-test.asks'), state: 'passed' },
      {
        label: t('console.website-test.website'),
        state: 'failed',
        explanation: t('console.website-test.rejected', { code: reference }),
        received: broken?.received,
        registered: broken?.expected ?? clientId,
        part: 'website',
      },
    ];
  }

  /** The headers of a browser that describe another request, or its address, must not count (CVE-2026-40575 and its kind). */
  async function metadataChecks(test: Test): Promise<Tested[]> {
    const other = `${test.application.clientId}/`;
    const { report } = await ask(test, TEST_PATH, {
      ...asPage,
      'X-Forwarded-For': FORGED_ADDRESS,
      'X-Forwarded-Uri': '/',
      'X-Forwarded-Method': 'DELETE',
      'X-Original-URL': other,
      'X-Original-Method': 'DELETE',
    });
    const { method, address } = report?.question ?? {};
    const [metadata, origin] = [t('console.website-test.metadata'), t('console.website-test.origin')];
    return [
      check(metadata, method === 'GET', t('console.website-test.metadata-failed'), 'request'),
      // Where the question was about another request, nobody knows the address.
      ...(address === undefined
        ? []
        : [check(origin, address !== FORGED_ADDRESS, t('console.website-test.origin-failed'), 'address')]),
    ];
  }

  /** A sign-in leaves out an address without an enabled website, and nothing tells anyone. */
  async function dependencyChecks({ metadata: { depends_on: origins = [] } }: ProxiedApplication): Promise<Tested[]> {
    if (origins.length === 0) return [];
    const left = await Promise.all(
      origins.map(async (origin) => {
        const found = await applications.find(origin);
        return found?.protocol === 'proxy' && found.enabled ? [] : [origin];
      }),
    );
    const label = t('console.website-test.dependencies');
    const unknown = left.flat();
    if (unknown.length === 0) return [{ label, state: 'passed' }];
    const explanation = t('console.website-test.dependencies-unknown', { addresses: listOf(unknown) });
    return [{ label, state: 'warning', explanation }];
  }

  async function wayChecks(test: Test): Promise<Tested[]> {
    const { paths, proxy } = test.application.metadata;
    // Each location of nginx with a pattern goes before the one that has all, and may forget to ask.
    const named = proxy === 'nginx' ? ['/', '/gatehouse-test.php', '/gatehouse-test.css'] : ['/'];
    const closed = [...new Set([...named, ...paths.map(({ path }) => path)])].filter((path) =>
      rulesFor(paths, 'GET', path).some((rule) => rule?.rule !== 'public'),
    );
    const odd = paths.length > 0 ? ['/gatehouse-test/..%2f'] : [];
    const tried = [...closed.slice(0, MAX_PATHS), ...odd];
    return Promise.all(
      tried.map(async (path): Promise<Tested> => {
        const { status } = await ask(test, path, asProgram);
        const label = t('console.website-test.closed', { path });
        const values = { received: String(status), registered: odd.includes(path) ? '400, 401, 403' : '401' };
        if (status === 400 || status === 401 || status === 403) return { label, state: 'passed' };
        if (status >= 500)
          return { label, state: 'failed', explanation: t('console.website-test.no-answer', { status }), ...values };
        const isRedirect = status >= 300 && status < 400;
        const explanation = isRedirect
          ? t('console.website-test.redirects-programs')
          : (notThere(status) ?? t('console.website-test.open', { path }));
        return { label, state: isRedirect ? 'warning' : 'failed', explanation, part: 'asks', ...values };
      }),
    );
  }

  /** What the website receives, where the proxy sends a path of the test here. */
  async function backendChecks(test: Test): Promise<Tested[]> {
    const names = namesFor(test.application);
    const { report } = await ask(test, TEST_BACKEND_PATH, asPage);
    if (!report?.backend) return [noRoute];
    const send = (headers: Record<string, string>) => ask(test, TEST_BACKEND_PATH, { ...asPage, ...headers }, true);
    const credential = credentialFor(test.application);
    const plain = await send(credential);
    const forgery = {
      ...asPage,
      ...Object.fromEntries([...names, ...spellings(names)].map((name) => [name, FORGED_VALUE])),
    };
    // Some proxies keep what the browser sent where the answer has an empty value.
    const forged = [await send(forgery), await ask(test, TEST_BACKEND_PATH, forgery)];
    const hop = await send({ connection: `close, ${names.join(', ')}` });
    const backends = forged.flatMap(({ report }) => report?.backend ?? []);
    return [
      ...(plain.report?.backend ? receivedChecks(test.application, plain.report.backend, backends) : []),
      connectionCheck(names, hop),
      await protocolCheck(send),
    ];
  }

  return {
    run,
    hostCheck,
    /** The checks of what the browser brought back; undefined where it is forged, too old or of another website. */
    read: (sealed: string, { id }: ProxiedApplication, by: Actor) => tickets.read(sealed, id, by),
    browserChecks(application: ProxiedApplication, { question, backend }: TestReport, address: string): Tested[] {
      if (backend) return receivedChecks(application, backend, []);
      if (!question) return [];
      const answer = {
        status: 302,
        report: { by: '', applicationId: '', at: 0, question },
        hasCookie: true,
        location: '',
        reference: undefined,
      };
      return [...askedChecks(application, answer), addressCheck(question.address, address)];
    },
    links: (application: ProxiedApplication, by: Actor) => ({
      question: `${application.clientId}${TEST_PATH}?${queryFor(application, by)}&browser=1`,
      backend: `${application.clientId}${TEST_BACKEND_PATH}?${queryFor(application, by)}&browser=1`,
    }),
    issuer,
  };
}

function whyOf(error: unknown): PageText {
  if (!(error instanceof OutgoingError)) throw error;
  return networkSentence(String((error.cause as Error | undefined)?.message ?? error.message)) ?? error.message;
}

const check = (label: PageText, isMet: boolean, explanation: PageText, part: TestedPart): Tested =>
  isMet ? { label, state: 'passed' } : { label, state: 'failed', explanation, part };

/** What a status says that a proxy also has for a host that it does not know (RFC 9110 15.5.5 and 15.5.20). */
const notThere = (status: number): PageText | undefined =>
  status === 404 || status === 421 ? t('console.website-test.not-there', { status }) : undefined;

const reached: Tested = { label: t('console.website-test.reach'), state: 'passed' };
const noRoute: Tested = {
  label: t('console.website-test.headers'),
  state: 'skipped',
  explanation: t('console.website-test.no-route'),
  part: 'test-route',
};

/** One spelling with each mark that backends may read as a hyphen, of all names in turn: proxies take about 100 headers. */
const spellings = (names: readonly string[]) =>
  MARKS.map((mark, at) => names[at % names.length]?.replaceAll('-', mark) ?? '');

function askedChecks({ metadata }: ProxiedApplication, { status, report, hasCookie, location }: Answer): Tested[] {
  const asks = t('console.website-test.asks');
  const question = report?.question;
  if (!question) {
    // A question that was answered, but whose answer did not come through.
    const isAnswered = (status === 401 || status === 403 || (status >= 300 && status < 400)) && location === '';
    if (isAnswered)
      return [
        { label: asks, state: 'passed' },
        {
          label: t('console.website-test.answer'),
          state: 'failed',
          explanation: t('console.website-test.no-location', { status }),
          part: 'answer',
        },
      ];
    const explanation =
      status >= 500
        ? t('console.website-test.no-answer', { status })
        : (notThere(status) ?? t('console.website-test.not-asked', { status }));
    return [{ label: asks, state: 'failed', explanation, part: 'asks', received: String(status), registered: '302' }];
  }
  const { proxy, isNavigation, hasCookie: isSent, namesWebsite, untrusted } = question;
  const names = { asked: proxies[proxy].name, registered: proxies[metadata.proxy].name };
  return [
    { label: asks, state: 'passed' },
    check(
      t('console.website-test.kind'),
      proxy === metadata.proxy,
      t('console.website-test.other-kind', names),
      'asks',
    ),
    check(t('console.website-test.website'), namesWebsite, t('console.website-test.no-website'), 'website'),
    check(t('console.website-test.answer'), hasCookie, t('console.website-test.no-set-cookie'), 'answer'),
    check(t('console.website-test.cookie'), isSent, t('console.website-test.no-cookie'), 'request'),
    check(t('console.website-test.navigation'), isNavigation, t('console.website-test.no-navigation'), 'request'),
    untrusted === undefined
      ? { label: t('console.website-test.addresses'), state: 'passed' }
      : {
          label: t('console.website-test.addresses'),
          state: 'failed',
          explanation: t('console.website-test.untrusted', { proxy: untrusted }),
        },
  ];
}

type Backend = NonNullable<TestReport['backend']>;

/** The headers that say who the user is. */
const namesFor = ({ metadata }: ProxiedApplication) => [...Object.keys(headersOf(metadata.headers)), JWT_HEADER];

/** A made-up credential of a program, of a kind that the website accepts. */
function credentialFor({ metadata }: ProxiedApplication): Record<string, string> {
  if (!letsProgramsIn(metadata)) return {};
  const basic = `Basic ${Buffer.from(`${FORGED_VALUE}:${FORGED_VALUE}`).toString('base64')}`;
  return { authorization: metadata.access_tokens === 'none' ? basic : `Bearer ${FORGED_VALUE}` };
}

function receivedChecks(application: ProxiedApplication, plain: Backend, forged: readonly Backend[]): Tested[] {
  const checks = namesFor(application).map((header): Tested => {
    const label = t('console.website-test.header', { header });
    const values = plain.values[header] ?? [];
    const failed = (explanation: PageText, received: readonly string[]): Tested => ({
      label,
      state: 'failed',
      explanation,
      received: received.join(', '),
      registered: TEST_VALUE,
      part: 'header',
      header,
    });
    const wrong = forged.map((one) => one.values[header] ?? []).find((sent) => sent.includes(FORGED_VALUE));
    if (wrong) return failed(t('console.website-test.forged', { header }), wrong);
    if (values.join() !== TEST_VALUE) return failed(t('console.website-test.dropped', { header }), values);
    return { label, state: 'passed' };
  });
  const secret = ['Cookie', ...(letsProgramsIn(application.metadata) ? ['Authorization'] : [])];
  for (const header of secret) {
    const label = t('console.website-test.secret', { header });
    const explanation = t('console.website-test.secret-arrives', { header });
    checks.push({ ...check(label, !plain.secrets.includes(header), explanation, 'header'), header });
  }
  if (forged.length === 0) return checks;
  const label = t('console.website-test.aliases');
  const aliases = [...new Set(forged.flatMap((one) => one.aliases))];
  if (aliases.length === 0) return [...checks, { label, state: 'passed' }];
  const explanation = t('console.website-test.aliases-arrive', { names: listOf(aliases) });
  return [...checks, { label, state: 'failed', explanation, part: 'aliases' }];
}

/** A proxy that obeys `Connection` removes what it names, also its own headers (RFC 9110 7.6.1). */
function connectionCheck(names: readonly string[], { status, report }: Answer): Tested {
  const label = t('console.website-test.connection');
  const values = report?.backend?.values ?? {};
  const lost = names.filter((name) => values[name]?.join() !== TEST_VALUE);
  if (lost.length === 0 || status === 400 || status === 403) return { label, state: 'passed' };
  const explanation = t('console.website-test.connection-removes', { headers: listOf(lost) });
  return { label, state: 'failed', explanation, part: 'connection' };
}

/** Where the website agrees to another protocol, the proxy asks about no further request of the connection (h2c smuggling). */
async function protocolCheck(send: (headers: Record<string, string>) => Promise<Answer>): Promise<Tested> {
  const label = t('console.website-test.protocol');
  const asked = { connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' };
  const sent = Promise.all(OTHER_PROTOCOLS.map((upgrade) => send({ ...asked, upgrade })));
  // A proxy that agrees itself asks about each request in that protocol.
  const answers = await sent.catch(whyOf);
  if (!Array.isArray(answers)) return { label, state: 'skipped', explanation: answers };
  const failed = (explanation: PageText): Tested => ({ label, state: 'failed', explanation, part: 'protocol' });
  const [protocol] = answers.flatMap(({ report }) => report?.backend?.values.Upgrade ?? []);
  if (protocol !== undefined) return failed(t('console.website-test.protocol-arrives', { protocol }));
  const unanswered = answers.find(({ status, report }) => !report && status >= 500);
  if (unanswered) return failed(t('console.website-test.no-answer', { status: unanswered.status }));
  return { label, state: 'passed' };
}

function addressCheck(seen: string, own: string): Tested {
  const label = t('console.website-test.address');
  if (seen === own) return { label, state: 'passed', explanation: own };
  const explanation = t('console.website-test.other-address', { seen, own });
  return { label, state: 'warning', explanation, received: seen, registered: own };
}
