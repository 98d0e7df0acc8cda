// `gatehouse event-stream …`: where events of the audit log go.
import type { EventDelivery } from '../admin/event-streams/event-streams.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { plural } from '../base/platform/plural.ts';
import { faultLine } from '../base/texts/faults.ts';
import type { EventStream } from '../protocols/event-streams/streams.ts';
import type { Services } from '../server/services.ts';
import { type Commands, type Description, type Input, noSuch, type Result, UsageError, type Work } from './command.ts';
import { factLines, formatDate, type Io, secretLines, tableLines } from './io.ts';
import { timeOption } from './times.ts';

/** Deliveries that `show` prints. */
const SHOWN = 20;
const MOST_FAILED = 100;
const details = 'STREAM is the ID of the stream, or its name.';

export const eventStreamCommands: Commands = {
  'event-stream list': {
    summary: 'list all event streams',
    async act(services) {
      const { streams, jsonOf } = await administration(services);
      const all = await streams.list();
      const rows = all.map((one) => [
        ...[one.id, one.name, one.kind, stateOf(one), formatDate(one.lastSuccessAt), one.source],
      ]);
      return { json: all.map(jsonOf), table: [['ID', 'NAME', 'KIND', 'STATE', 'LAST SUCCESS', 'SOURCE'], rows] };
    },
  },

  'event-stream show': {
    ...onStream('show an event stream with its newest deliveries', async (stream, context) => {
      const { streams, jsonOf, deliveryJson, input } = context;
      const isFailed = input.flag('failed');
      const filter = isFailed ? ({ state: 'failed', limit: MOST_FAILED } as const) : { limit: SHOWN };
      const { items: deliveries } = await streams.deliveries(stream.id, filter);
      const { id, name, kind, url, format, events, applications, groups, lastSuccessAt, lastError, retryAt } = stream;
      const eventOf = ({ type, seq, untilSeq }: EventDelivery) =>
        seq === untilSeq ? (type ?? '-') : `${seq} to ${untilSeq}`;
      const rows = deliveries.map((one) => [
        ...[one.id, eventOf(one), one.state, String(one.tries)],
        ...[formatDate(one.createdAt), one.lastError ?? one.answer ?? '-'],
      ]);
      const head = ['DELIVERY', 'EVENT', 'STATE', 'TRIES', 'AT', 'ANSWER'];
      return {
        json: { ...jsonOf(stream), deliveries: deliveries.map(deliveryJson) },
        text: [
          ...factLines([
            ['id', id],
            ['name', name],
            ['kind', kind === 'siem' ? `${kind}, ${format}` : kind],
            ['to', url],
            ['events', events.join(', ')],
            ['applications', applications.join(', ') || 'all'],
            ['groups', groups.join(', ') || 'all'],
            ['state', stateOf(stream)],
            ['last success', formatDate(lastSuccessAt)],
            ['next attempt', formatDate(retryAt)],
            ['last error', lastError ?? '-'],
          ]),
          ...(rows.length > 0 ? ['', ...tableLines(head, rows)] : []),
        ],
      };
    }),
    options: { failed: { type: 'boolean', help: 'the newest 100 deliveries that were given up instead' } },
  },

  'event-stream add': {
    args: ['FILE'],
    summary: 'add an event stream from a YAML or JSON file; - reads standard input',
    details: `The file holds one entry of event_streams: as in the configuration file (docs/events.md), such as
{ id: hr, name: HR system, url: https://hr.example.com/events, events: [user.*] }. A webhook without a secret gets one, which is printed once.`,
    async act(services, input, io) {
      const { id, secret: given, ...declared } = await readStream(input.words[0] ?? '', io);
      const { stream, secret } = await services.eventStreams.create(declared, given, {}, { id });
      const { id: streamId, name } = stream;
      const isNew = given === undefined;
      return {
        json: { id: streamId, name, ...(isNew && { secret: secret ?? null }) },
        text: [
          `Added the event stream ${name}. It sends the events from now on.`,
          ...(isNew && secret !== undefined ? secretLines('Secret', secret) : []),
        ],
      };
    },
  },

  'event-stream delete': onStream(
    'delete an event stream; what it did not send stays in the audit log',
    async ({ id, name }, { streams }) => {
      await streams.remove(id, {});
      return { json: { id, deleted: true }, text: `Deleted ${name}.` };
    },
  ),

  'event-stream enable': stateCommand(true, 'let an event stream send again, from where it stopped'),
  'event-stream disable': stateCommand(false, 'stop an event stream; the events wait in the audit log'),

  'event-stream secret': {
    ...onStream(
      'replace the secret of an event stream; prints a new one once',
      async ({ id, kind }, { streams, input, io }) => {
        const given = input.flag('secret-stdin') ? (await io.stdin()).trim() : undefined;
        if (given === undefined && kind === 'siem')
          throw new UsageError('a SIEM gives out its token: use --secret-stdin');
        const { secret = '' } = await streams.changeSecret(id, given, {});
        return given === undefined
          ? { json: { id, secret }, text: secretLines('Secret', secret) }
          : { json: { id, secret: null }, text: 'The secret is stored.' };
      },
    ),
    details: `${details} The old secret of a webhook signs beside the new one for seven days.`,
    options: {
      'secret-stdin': { type: 'boolean', help: 'read the secret, or the token of a SIEM, from standard input' },
    },
  },

  'event-stream test': onStream(
    'send a test event, and print the answer; the exit code is 1 if it was not taken',
    async ({ id, name, url }, { streams }) => {
      const { addressOf } = await import('../protocols/event-streams/streams.ts');
      const json = await streams.test(id, {});
      const { ok, status, answer, milliseconds } = json;
      const what = status === null ? answer : `status ${status}${answer && `: ${answer}`}`;
      return ok
        ? { json, text: `${name} took the test event: ${addressOf(url)}, ${what}, ${milliseconds} ms` }
        : { json, errors: [`${name} did not take the test event: ${what}`] };
    },
  ),

  'event-stream resume': onStream(
    'send what waits at once, also after a pause',
    async ({ id, name }, { streams, jsonOf }) => ({
      json: jsonOf(await streams.resume(id, {})),
      text: `${name} goes on.`,
    }),
  ),

  'event-stream replay': {
    ...onStream(
      'send the events of a time again, as long as the audit log has them',
      async ({ id, name }, { streams, input, now }) => {
        const [from, until] = [timeOption(input, 'from'), timeOption(input, 'until')];
        if (!from) throw new UsageError('--from is missing');
        const events = await streams.replay(id, { from, until: until ?? now }, {});
        const text = `${name} sends its events out of ${plural(events, 'event')} of the log again.`;
        return { json: { events }, text };
      },
    ),
    details: `${details} The webhook-id is the same as before.`,
    options: {
      from: { type: 'string', value: 'TIME', help: 'the first moment, such as 2026-12-01T00:00:00Z' },
      until: { type: 'string', value: 'TIME', help: 'the end; default: now' },
    },
  },

  'event-stream redeliver': {
    ...onStream(
      'send a delivery again, also one that was given up',
      async ({ id, name }, { streams, input: { words } }) => {
        const [, delivery = ''] = words;
        await streams.redeliver(id, delivery, {});
        return { json: { id: delivery, redelivered: true }, text: `${name} gets ${delivery} again.` };
      },
    ),
    args: ['STREAM', 'DELIVERY'],
    details: `${details} The command event-stream show prints the deliveries.`,
  },
};

/** The event streams as the API has them. */
async function administration(services: Services) {
  const api = await import('../admin/event-streams/event-streams.ts');
  const streams = api.createEventStreamAdmin(services);
  return { streams, deliveryJson: api.deliveryJson, jsonOf: api.eventStreamNoun(streams).json, now: services.now() };
}

/** A command on the stream that its first argument names. */
function onStream(
  summary: string,
  work: (
    stream: EventStream,
    context: Awaited<ReturnType<typeof administration>> & { input: Input; io: Io },
  ) => Promise<Result>,
): Description & Work {
  return {
    args: ['STREAM'],
    summary,
    details,
    async act(services, input, io) {
      const context = await administration(services);
      const [word = ''] = input.words;
      const stream = (await context.streams.list()).find(({ id, name }) => id === word || name === word);
      return work(stream ?? noSuch('event stream', 'event-stream', word), { ...context, input, io });
    },
  };
}

function stateCommand(enabled: boolean, summary: string): Description & Work {
  return onStream(summary, async ({ id, name }, { streams, jsonOf }) => ({
    json: jsonOf(await streams.update(id, { enabled }, {})),
    text: `${name} is ${enabled ? 'enabled' : 'disabled'}.`,
  }));
}

function stateOf({ enabled, pausedAt, failingSince, lastSuccessAt }: EventStream): string {
  if (!enabled) return 'disabled';
  if (pausedAt) return 'paused';
  if (failingSince) return 'failing';
  return lastSuccessAt ? 'delivering' : 'no event yet';
}

/** An entry of `event_streams`, with the secret that it names. Throws ConfigError. */
async function readStream(file: string, io: Io) {
  const { readEntry, readText } = await import('../config-file/read-file.ts');
  const { secret_file: secretFile, ...stream } = await readEntry('event_streams', file, io.stdin);
  if (secretFile === undefined) return stream;
  const { secretFaults } = await import('../protocols/event-streams/streams.ts');
  const secret = (await readText(secretFile)).trim();
  const faults = secretFaults(stream, secret);
  if (faults.length > 0) throw new ConfigError(faults.map((one) => `${secretFile}: ${faultLine(one)}`));
  return { ...stream, secret };
}
