// /admin/event-streams: where events go, one stream with its deliveries, a new one, its secret, a replay, and the deletion of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { parse, parseQuery } from '../../base/http/input.ts';
import { present } from '../../base/platform/defined.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import { auditEventTypes, type EventKind, eventTypesByKind } from '../../core/audit/events.ts';
import { sentenceOfType } from '../../core/audit/sentence.ts';
import { deliveryStates } from '../../protocols/event-streams/delivery-list.ts';
import { TEST } from '../../protocols/event-streams/event.ts';
import {
  addressOf,
  declarationOf,
  type EventStream,
  isSigned,
  recipientsOf,
} from '../../protocols/event-streams/streams.ts';
import { etagOf } from '../api/versions.ts';
import {
  type Action,
  type Block,
  type ConsolePage,
  type Field,
  hiddenField,
  type Mark,
  type RowColumn,
  type Search,
  selectField,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { deletionZone } from '../console/danger-zone.ts';
import { bodyOf, daysField, type FormKey, fieldKey, fieldsOf, keyOf } from '../console/form-fields.ts';
import { listAt, tableOf } from '../console/lists.ts';
import { addPage, listForm } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type PageOfOne, pagesOf } from '../noun-pages.ts';
import type { Destination } from './deliveries.ts';
import { type CreatedStream, type EventDelivery, eventStreamNoun, newStream, WRITE_STREAMS } from './event-streams.ts';

const HOME = '/admin/event-streams';
const pathOf = ({ id }: { id: string }) => `${HOME}/${id}`;
const ADD: Action = { label: t('console.event-streams.add'), icon: 'plus', href: `${HOME}/new` };
const SHOWN = 20;
const DAY_CHOICES = [1, 7, 30, 90];
const DAY_MS = 24 * 3600 * 1000;

export function eventStreamRoutes(services: ConsoleServices) {
  const { now } = services;
  const { eventStreams } = services.admin;
  const noun = eventStreamNoun(eventStreams);
  const { router, list, create, one, form: smallForm, change, deletion, pageOf } = pagesOf(services, noun);

  list(async ({ may }) =>
    listPage(
      await eventStreams.list(),
      WRITE_STREAMS.every((one) => may(one)),
    ),
  );
  create({
    form: listForm,
    page: async ({ ctx }, sent) =>
      newPage(kindOfForm.parse(sent?.kind?.at(-1) ?? parseQuery(ctx, newQuery).kind), sent),
    async submit({ by }, sent) {
      const { secret, ...declared } = declaredBy(sent, kindOfForm.parse(sentValue(sent, 'kind')));
      const created = await eventStreams.create(declared, secret, by);
      // A secret that signs is shown once.
      if (isSigned(declared)) return { result: secretPage(created) };
      return { to: pathOf(created.stream), notice: t('console.event-streams.saved') };
    },
  });
  one('', {
    form: listForm,
    async page(visit, sent) {
      const { ctx, subject, may } = visit;
      const list = listAt(pathOf(subject), { state: deliveryState })(ctx);
      const { state, after } = list.given;
      const { items, next } = await eventStreams.deliveries(subject.id, {
        limit: SHOWN,
        after,
        state: state || undefined,
      });
      const page = streamPage(subject, sent, {
        deliveries: items,
        filter: list.search([stateField(state)], { button: t('console.mail.filter') }),
        isFiltered: state !== '',
        pages: list.pages(next),
        mayWrite: WRITE_STREAMS.every((one) => may(one)),
      });
      return pageOf(visit, page);
    },
    async submit({ by, subject }, sent) {
      const { kind: _kind, ...declared } = declaredBy(sent, kindOfForm.parse(subject.kind));
      await eventStreams.update(subject.id, declared, by, sentValue(sent, VERSION) ?? '');
      return { to: pathOf(subject), notice: t('console.event-streams.saved') };
    },
  });
  change('/test', {
    async submit({ by: actor, subject }) {
      const { ok, status, answer, milliseconds } = await eventStreams.test(subject.id, actor);
      const what = status === null ? answer : t('console.event-streams.test.status', { status: String(status) });
      const [to, by] = [new URL(subject.url).host || addressOf(subject.url), wayOf(subject)];
      const taken = t('console.event-streams.test.taken', { by, to, status: String(status), milliseconds });
      return ok
        ? { to: pathOf(subject), notice: taken }
        : { to: pathOf(subject), notice: sentences([t('console.event-streams.test.failed'), what]), tone: 'warn' };
    },
  });
  change('/resume', {
    async submit({ by, subject }) {
      await eventStreams.resume(subject.id, by);
      return { to: pathOf(subject), notice: t('console.event-streams.resumed') };
    },
  });
  one('/deliveries/:delivery', {
    // A body has what the activity log hides from some.
    needs: noun.write,
    page: async ({ ctx, subject }) =>
      deliveryPage(subject, await eventStreams.delivery(subject.id, ctx.params.delivery ?? '')),
  });
  change('/deliveries/:delivery/retry', {
    async submit({ ctx, by, subject }) {
      await eventStreams.redeliver(subject.id, ctx.params.delivery ?? '', by);
      return { to: pathOf(subject), notice: t('console.event-streams.sent-again') };
    },
  });
  smallForm('/replay', {
    title: ({ name }) => t('console.event-streams.replay.title', { name }),
    purpose: t('console.event-streams.replay.lead'),
    fields: () => [daysField('days', t('console.event-streams.replay.days'), 1, DAY_CHOICES)],
    body: z.strictObject({ days: z.int().min(1).max(366) }),
    button: t('console.event-streams.replay'),
    async submit({ by, subject }, { days }) {
      const until = now();
      await eventStreams.replay(subject.id, { from: new Date(until.getTime() - days * DAY_MS), until }, by);
      return { to: pathOf(subject), notice: t('console.event-streams.replay.begun') };
    },
  });
  smallForm('/secret', {
    title: ({ name }) => t('console.event-streams.secret.title', { name }),
    purpose: t('console.event-streams.secret.lead'),
    fields: ({ subject }) => (isSigned(subject) ? [] : [{ ...secretField(''), required: true }]),
    body: z.strictObject({ secret: z.string().max(1024).optional() }),
    button: t('console.event-streams.secret.change'),
    submit: async ({ by, subject }, { secret }) => ({
      result: secretPage(await eventStreams.changeSecret(subject.id, secret || undefined, by)),
    }),
  });
  deletion({
    title: ({ name }) => t('console.event-streams.delete', { name }),
    lead: () => t('console.event-streams.delete-lead'),
    run: eventStreams.remove,
    done: t('console.event-streams.deleted'),
  });
  return router;
}

const KINDS = {
  webhook: t('console.event-streams.kind.webhook'),
  siem: t('console.event-streams.kind.siem'),
  alert: t('console.event-streams.kind.alert'),
  ssf: t('console.event-streams.kind.ssf'),
};
const { ssf: _ofReceivers, ...DECLARED } = KINDS;

type DeclaredKind = keyof typeof DECLARED;

const KIND_LEADS = {
  webhook: t('console.event-streams.kind.webhook-lead'),
  siem: t('console.event-streams.kind.siem-lead'),
  alert: t('console.event-streams.kind.alert-lead'),
};
const SECRET_HINTS = {
  webhook: t('console.event-streams.secret.webhook-hint'),
  siem: t('console.event-streams.secret.siem-hint'),
};
const kindOfForm = z.enum(['webhook', 'siem', 'alert']).default('webhook').catch('webhook');
const newQuery = z.object({ kind: kindOfForm });
/** What an administrator wants to hear of at once. */
const ALERTS = [
  'administrator.added',
  'factors.reset',
  'api-key.created',
  'key.*',
  'setting.changed',
  'integrity.alarm',
];

function emptyStream(kind: DeclaredKind): Declared {
  const standard = newStream.parse({ name: 'x', url: 'https://x', kind, ...(kind === 'alert' && { events: ALERTS }) });
  return { ...standard, name: '', url: '' };
}

function stateOf({ enabled, pausedAt, failingSince, lastSuccessAt }: EventStream): Mark {
  if (!enabled) return { text: t('console.shared.disabled'), tone: 'plain' };
  if (pausedAt) return { text: t('console.event-streams.state.paused'), tone: 'bad' };
  if (failingSince) return { text: t('console.event-streams.state.failing'), tone: 'warn' };
  return lastSuccessAt
    ? { text: t('console.event-streams.state.delivering'), tone: 'good' }
    : { text: t('console.event-streams.state.waiting'), tone: 'plain' };
}

function listPage(streams: readonly EventStream[], mayWrite: boolean): ConsolePage {
  return {
    title: t('console.navigation.event-streams'),
    lead: t('console.event-streams.lead'),
    tabs: deliveryTabs('streams'),
    actions: mayWrite ? [{ ...ADD, look: 'primary' }] : [],
    blocks: [
      {
        kind: 'table',
        ...tableOf(streams, [
          [t('console.shared.name'), (one) => ({ text: one.name, href: pathOf(one) })],
          [t('console.event-streams.kind'), ({ kind }) => KINDS[kind]],
          [
            t('console.event-streams.url'),
            (one) => ({ text: new URL(one.url).host || addressOf(one.url), code: true }),
          ],
          [t('console.shared.status'), stateOf],
          [
            t('console.event-streams.last-success'),
            ({ lastSuccessAt }) => lastSuccessAt ?? t('console.api-keys.never'),
          ],
        ]),
        empty: {
          icon: 'send',
          title: t('console.event-streams.none'),
          text: t('console.event-streams.none-text'),
          ...(mayWrite && { action: ADD }),
        },
      },
    ],
  };
}

function newPage(kind: DeclaredKind, sent: Sent | undefined): ConsolePage {
  return {
    title: t('console.event-streams.add'),
    lead: t('console.event-streams.add-lead'),
    back: { href: HOME, label: t('console.navigation.event-streams') },
    tabs: Object.entries(DECLARED).map(([one, label]) => ({
      href: `${HOME}/new?kind=${one}`,
      label,
      isCurrent: one === kind,
    })),
    blocks: [
      {
        kind: 'form',
        lead: KIND_LEADS[kind],
        action: `${HOME}/new`,
        fields: [
          hiddenField('kind', kind),
          ...fieldsOf(keysOf(kind), emptyStream(kind), sent),
          ...(kind === 'alert' ? [] : [secretField(SECRET_HINTS[kind])]),
        ],
        button: t('console.event-streams.add'),
        cancel: HOME,
      },
      eventList,
    ],
  };
}

interface PageOptions {
  deliveries: readonly EventDelivery[];
  filter: Search;
  isFiltered: boolean;
  pages: Extract<Block, { kind: 'table' }>['pages'];
  mayWrite: boolean;
}

function streamPage(stream: EventStream, sent: Sent | undefined, options: PageOptions): PageOfOne {
  const { mayWrite } = options;
  const at = pathOf(stream);
  const isSignals = stream.kind === 'ssf';
  const mayEdit = mayWrite && stream.source !== 'file';
  const { pausedAt, failingSince, retryAt, lastError, lastSuccessAt, replayUntil, receiver } = stream;
  const fact = (label: PageText, value: PageText | Date | null) => (value === null ? [] : [{ label, value }]);
  const facts: Block = {
    kind: 'facts',
    rows: [
      { label: t('console.event-streams.kind'), value: KINDS[stream.kind] },
      {
        label: t('console.event-streams.url'),
        value: { text: mayWrite ? writtenUrl(stream) : addressOf(stream.url), code: true },
      },
      { label: t('console.event-streams.last-success'), value: lastSuccessAt ?? t('console.api-keys.never') },
      ...fact(t('console.event-streams.failing-since'), failingSince),
      ...fact(t('console.event-streams.error'), pausedAt || failingSince ? lastError : null),
      ...fact(
        t(`console.event-streams.${stream.kind === 'alert' && !failingSince ? 'next-alert' : 'next-try'}`),
        pausedAt ? null : retryAt,
      ),
    ],
  };
  const isPausedHere = pausedAt !== null && !receiver?.isPaused;
  const actions = present<Action>([
    (failingSince !== null || isPausedHere) && {
      label: t('console.event-streams.resume'),
      icon: 'play',
      post: `${at}/resume`,
    },
    !isSignals && { label: t('console.event-streams.test'), icon: 'send', post: `${at}/test` },
    !isSignals &&
      stream.kind !== 'alert' && {
        label: t('console.event-streams.replay'),
        icon: 'refresh-cw',
        href: `${at}/replay`,
      },
  ]);
  return {
    tags: [stateOf(stream)],
    actions: mayWrite ? actions : [],
    blocks: present([
      isSignals && { kind: 'text', text: t('console.event-streams.receiver') },
      isPausedHere && { kind: 'text', tone: 'warning', text: t('console.event-streams.paused') },
      replayUntil !== null && { kind: 'text', tone: 'notice', text: t('console.event-streams.replay.running') },
      facts,
      deliveryTable(stream, options),
      ...(mayEdit ? changesOf(stream, sent) : []),
    ]),
  };
}

function changesOf(stream: EventStream, sent: Sent | undefined): Block[] {
  const { kind, hasSecret } = stream;
  const at = pathOf(stream);
  const danger = deletionZone(at, t('console.event-streams.delete-lead'));
  if (kind === 'ssf') return [danger];
  return [
    {
      kind: 'form',
      title: t('console.event-streams.edit'),
      action: at,
      fields: [
        versionField(etagOf(declarationOf(stream))),
        ...fieldsOf(keysOf(kind), declarationOf(stream), sent),
        ...(kind === 'siem' ? [secretField(t('console.event-streams.secret.moved-hint'))] : []),
      ],
      button: t('console.shared.save-changes'),
      cancel: HOME,
    },
    eventList,
    ...(hasSecret || kind === 'siem' ? [secretTask(stream)] : []),
    danger,
  ];
}

const secretTask = (stream: EventStream): Block => ({
  kind: 'tasks',
  title: t('console.event-streams.secret'),
  rows: [
    {
      text: isSigned(stream) ? t('console.event-streams.secret.signs') : t('console.event-streams.secret.token'),
      action: { label: t('console.event-streams.secret.change'), href: `${pathOf(stream)}/secret` },
    },
  ],
});

const DELIVERY_STATES: Record<EventDelivery['state'], Mark> = {
  done: { text: t('console.event-streams.delivery.done'), tone: 'good' },
  waiting: { text: t('console.event-streams.delivery.waiting'), tone: 'plain' },
  failed: { text: t('console.event-streams.delivery.failed'), tone: 'bad' },
};

function eventOf({ type, seq, untilSeq }: EventDelivery): PageText {
  if (type === TEST) return t('console.event-streams.delivery.test');
  if (seq !== untilSeq) return t('console.event-streams.delivery.batch', { from: seq, until: untilSeq });
  return type === null ? t('console.event-streams.delivery.purged') : sentenceOrType(type);
}

/** One of a newer version has no sentence. */
function sentenceOrType(type: string): PageText {
  const known = auditEventTypes.find((one) => one === type);
  return known ? sentenceOfType(known) : type;
}

/** A mail is in the queue then, and the page of the mails knows the rest. */
const stateOfDelivery = ({ url }: EventStream, { state }: EventDelivery): Mark =>
  state === 'done' && recipientsOf(url) ? QUEUED : DELIVERY_STATES[state];
const QUEUED: Mark = { text: t('console.event-streams.delivery.queued'), tone: 'good' };

/** What the receiver said; of a mail its receivers. */
function answerOf({ url }: EventStream, { state, answer, lastError }: EventDelivery): PageText {
  if (lastError !== null) return lastError;
  if (answer === 'too few') return t('console.event-streams.delivery.too-few');
  const recipients = state === 'done' ? recipientsOf(url) : undefined;
  return recipients?.join(', ') ?? answer ?? '';
}

const SENT = t('console.event-streams.delivery.body');

/** One delivery with what it sends. */
function deliveryPage(
  stream: EventStream,
  delivery: EventDelivery & { webhookId: string | null; body: string | null },
): ConsolePage {
  const { id, webhookId, createdAt, body } = delivery;
  return {
    title: eventOf(delivery),
    back: { href: pathOf(stream), label: stream.name },
    tags: [stateOfDelivery(stream, delivery)],
    actions: isOver(delivery) ? [{ ...againOf(stream, delivery), icon: 'send' }] : [],
    blocks: [
      {
        kind: 'facts',
        rows: [
          { label: 'ID', value: { text: id, code: true } },
          ...(webhookId === null ? [] : [{ label: 'webhook-id', value: { text: webhookId, code: true } }]),
          { label: t('console.event-streams.delivery.answer'), value: answerOf(stream, delivery) },
          { label: t('console.event-streams.delivery.tries'), value: triesOf(delivery) },
          { label: t('console.event-streams.delivery.at'), value: createdAt },
        ],
      },
      ...(body === null ? [] : [{ kind: 'code', title: SENT, label: SENT, text: body } as const]),
    ],
  };
}

/** A test is sent again as a test. */
const isOver = ({ state, type }: EventDelivery) => state !== 'waiting' && type !== TEST;

const againOf = (stream: EventStream, { id }: EventDelivery): Action => ({
  label: t('console.event-streams.send-again'),
  post: `${pathOf(stream)}/deliveries/${id}/retry`,
});

/** An attempt while the receiver is away does not count. */
const triesOf = ({ state, tries, lastError }: EventDelivery) =>
  state === 'waiting' && tries === 0 && lastError !== null ? '' : tries;

const deliveryState = z
  .enum(['', ...deliveryStates])
  .default('')
  .catch('');

const stateField = (value: z.output<typeof deliveryState>): Field => {
  const texts = deliveryStates.map((state) => [state, DELIVERY_STATES[state].text]);
  const choices = { '': t('console.event-streams.delivery.any'), ...Object.fromEntries(texts) };
  return selectField('state', t('console.shared.status'), value, choices);
};

function deliveryTable(stream: EventStream, { deliveries, filter, isFiltered, pages, mayWrite }: PageOptions): Block {
  const hasPages = mayWrite && stream.kind !== 'ssf';
  return {
    kind: 'table',
    title: t('console.event-streams.deliveries'),
    filter,
    ...tableOf(deliveries, [
      [
        t('console.event-streams.delivery.event'),
        (one) => ({
          text: eventOf(one),
          ...(one.seq === one.untilSeq && one.type !== null && one.type !== TEST && { small: one.type }),
          ...(hasPages && { href: `${pathOf(stream)}/deliveries/${one.id}` }),
        }),
      ],
      [t('console.shared.status'), (one) => stateOfDelivery(stream, one)],
      [t('console.event-streams.delivery.answer'), (one) => answerOf(stream, one)],
      [{ label: t('console.event-streams.delivery.tries'), isNumber: true }, triesOf],
      [t('console.event-streams.delivery.at'), ({ createdAt }) => createdAt],
      mayWrite && [
        t('console.sign-up-codes.action'),
        (one) => (isOver(one) ? { ...againOf(stream, one), of: eventOf(one) } : ''),
      ],
    ]),
    empty: isFiltered ? t('console.event-streams.delivery.no-match') : t('console.event-streams.no-deliveries'),
    pages,
  };
}

function secretField(hint: PageText): Field {
  return {
    name: 'secret',
    label: t('console.event-streams.secret'),
    type: 'password',
    autocomplete: 'off',
    ...(hint && { hint }),
  };
}

/** Every type of event, with what it says in the activity log. */
const eventList: Block = {
  kind: 'facts',
  title: t('console.event-streams.types'),
  rows: Object.entries(eventTypesByKind).map(([kind, types]) => ({
    label: t(`console.events.kind.${kind as EventKind}`),
    value: types.map((type) => [{ text: type, code: true }, sentenceOfType(type)]),
  })),
  isClosed: true,
};

/** The address of a stream as people write it. */
const writtenUrl = ({ url }: { url: string }) => recipientsOf(url)?.join(', ') ?? url;

/** How a test gets there: a mail is queued, and syslog has no answer. */
function wayOf({ url, format }: EventStream): 'mail' | 'syslog' | 'request' {
  if (recipientsOf(url)) return 'mail';
  return format === 'syslog' ? 'syslog' : 'request';
}

type Declared = ReturnType<typeof declarationOf>;

const FORMATS = {
  json: 'JSON',
  splunk: 'Splunk HEC',
  ecs: 'Elastic Common Schema',
  ocsf: 'OCSF 1.3',
  syslog: 'Syslog (RFC 5424)',
};
const formats = Object.entries(FORMATS).map(([value, label]) => ({ value, label }));

/** A field as its schema says. */
const described = (name: 'format' | 'body' | 'at_least' | 'within_minutes' | 'quiet_minutes') => {
  const about = { section: null, ...(name === 'format' && { options: 'formats' }) };
  return keyOf({ name, schema: newStream.shape[name], about, texts: 'console.event-streams.field.' }, { formats });
};

const listKey = (name: 'events' | 'applications' | 'groups', suggest: RowColumn['suggest']) => {
  const label = t(`console.event-streams.${name}`);
  const [adds, hint] = [t(`console.event-streams.${name}.one`), t(`console.event-streams.${name}-hint`)];
  return fieldKey({ name, label, type: 'rows', columns: [{ name: '', label, suggest }], adds, hint });
};

/** The form of each kind has its own fields. */
function keysOf(kind: DeclaredKind): FormKey[] {
  const [label, hint] = [t('console.event-streams.url'), t(`console.event-streams.url.${kind}`)];
  const url = fieldKey({ name: 'url', label, required: true, isCode: true, hint });
  return [
    fieldKey({ name: 'name', label: t('console.shared.name'), required: true }),
    {
      ...url,
      fields: ({ url: stored }) => url.fields({ url: writtenUrl({ url: String(stored) }) }),
      read: (sent) => (kind === 'alert' ? alertUrl(sentValue(sent, 'url') ?? '') : url.read(sent)),
    },
    ...(kind === 'siem' ? [described('format')] : []),
    listKey('events', 'event-types'),
    listKey('applications', 'applications'),
    listKey('groups', 'groups'),
    ...(kind === 'alert'
      ? [described('at_least'), described('within_minutes'), described('quiet_minutes')]
      : [described('body')]),
    fieldKey({ name: 'enabled', label: t('console.shared.enabled'), type: 'checkbox' }),
  ];
}

/** A URL, or addresses as people write them. */
const alertUrl = (text: string) =>
  /^https?:/i.test(text)
    ? text
    : `mailto:${text
        .replace(/^mailto:/i, '')
        .split(/[\s,;]+/)
        .join(',')}`;

const declaredBy = (sent: Sent, kind: DeclaredKind) =>
  parse(newStream, { kind, ...bodyOf([...keysOf(kind), fieldKey(secretField(''))], sent) });

function secretPage({ stream, secret }: CreatedStream): ConsolePage {
  const done: Block = {
    kind: 'actions',
    items: [{ label: t('console.sign-up-codes.created.done'), href: pathOf(stream), look: 'primary' }],
  };
  const shown = secret !== undefined && isSigned(stream);
  return {
    title: shown ? t('console.event-streams.secret.of', { name: stream.name }) : stream.name,
    back: { href: pathOf(stream), label: stream.name },
    blocks: [
      shown
        ? {
            kind: 'secret',
            label: t('console.event-streams.secret'),
            copied: t('console.shared.copied.secret'),
            text: secret,
            lead: t('console.event-streams.secret.copy'),
          }
        : { kind: 'text', text: t('console.event-streams.saved') },
      done,
    ],
  };
}

/** /admin/deliveries. */
export function deliveryRoutes({ frame, admin: { deliveries } }: ConsoleServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/deliveries' });
  addPage(router, frame, '/', {
    needs: ['gatehouse.audit:read'],
    page: async () => deliveriesPage(await deliveries.list()),
  });
  return router;
}

/** The tabs of the two pages about what leaves this server. */
const deliveryTabs = (current: 'streams' | 'deliveries'): NonNullable<ConsolePage['tabs']> => [
  { href: '/admin/event-streams', label: t('console.navigation.event-streams'), isCurrent: current === 'streams' },
  { href: '/admin/deliveries', label: t('console.deliveries.tab'), isCurrent: current === 'deliveries' },
];

const DESTINATION_PAGES: Readonly<Record<Destination['kind'], (id: string) => string>> = {
  mail: () => '/admin/mail',
  logout: (id) => `/admin/applications/${id}`,
  events: (id) => `/admin/event-streams/${id}`,
  provisioning: (id) => `/admin/applications/${id}/provisioning`,
};

function deliveriesPage(destinations: readonly Destination[]): ConsolePage {
  const nameOf = ({ kind, id, name }: Destination): Mark =>
    id === null && kind !== 'mail'
      ? { text: name, code: true }
      : { text: name, href: DESTINATION_PAGES[kind](id ?? '') };
  return {
    title: t('console.deliveries'),
    lead: t('console.deliveries.lead'),
    tabs: deliveryTabs('deliveries'),
    blocks: [
      {
        kind: 'table',
        ...tableOf(destinations, [
          [t('console.deliveries.to'), (one) => ({ ...nameOf(one), small: one.lastError ?? undefined })],
          [t('console.event-streams.kind'), ({ kind }) => t(`console.deliveries.${kind}`)],
          [
            t('console.shared.status'),
            ({ isPaused, failed, lastError }) => {
              if (isPaused) return { text: t('console.event-streams.state.paused'), tone: 'bad' };
              return failed > 0 || lastError !== null
                ? { text: t('console.event-streams.state.failing'), tone: 'warn' }
                : { text: t('console.event-streams.state.delivering'), tone: 'good' };
            },
          ],
          [{ label: t('console.event-streams.delivery.waiting'), isNumber: true }, ({ waiting }) => waiting],
          [
            { label: t('console.event-streams.delivery.failed'), isNumber: true },
            ({ kind, id, failed }) =>
              kind === 'events' && failed > 0
                ? { text: String(failed), href: `${DESTINATION_PAGES.events(id ?? '')}?state=failed` }
                : failed,
          ],
          [t('console.deliveries.since'), ({ oldestAt }) => oldestAt ?? ''],
        ]),
        empty: { icon: 'send', title: t('console.deliveries.none'), text: t('console.deliveries.none-text') },
      },
    ],
  };
}
