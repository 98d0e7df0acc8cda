// `gatehouse event-stream …`: where events of the audit log go.
import type { EventDelivery, EventStreamAdmin } from '../admin/event-streams/event-streams.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { plural } from '../base/platform/plural.ts';
import { faultLine } from '../base/texts/faults.ts';
import type { EventStream } from '../protocols/event-streams/streams.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { timeOption } from './groups.ts';
import { formatDate, type Io, plain, tableLines } from './io.ts';

/** Deliveries that `show` prints. */
const SHOWN = 20;
const details = 'STREAM is the ID of the stream, or its name.';

const list: Command = {
  name: 'event-stream list',
  summary: 'list all event streams',
  options: jsonOption,
  run: (input, io) =>
    withStreams(io, async (streams) => {
      const all = await streams.list();
      if (input.flag('json')) io.json(all.map(await jsonOf(streams)));
      else
        io.table(
          ['ID', 'NAME', 'KIND', 'STATE', 'LAST SUCCESS', 'SOURCE'],
          all.map((one) => [one.id, one.name, one.kind, stateOf(one), formatDate(one.lastSuccessAt), one.source]),
        );
      return 0;
    }),
};

const show = command('show', 'show an event stream with its newest deliveries', async (stream, { streams }) => {
  const { deliveryJson } = await import('../admin/event-streams/event-streams.ts');
  const deliveries = await streams.deliveries(stream.id, { limit: SHOWN });
  const { id, name, kind, url, format, events, applications, groups, lastSuccessAt, lastError, retryAt } = stream;
  const lines: [string, string][] = [
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
  ];
  const eventOf = ({ type, seq, untilSeq }: EventDelivery) =>
    seq === untilSeq ? (type ?? '-') : `${seq} to ${untilSeq}`;
  const rows = deliveries.map((one) => [
    ...[one.id, eventOf(one), one.state, String(one.tries)],
    ...[formatDate(one.createdAt), one.lastError ?? one.answer ?? '-'],
  ]);
  const table = tableLines(['DELIVERY', 'EVENT', 'STATE', 'TRIES', 'AT', 'ANSWER'], rows);
  return {
    json: { ...(await jsonOf(streams))(stream), deliveries: deliveries.map(deliveryJson) },
    text: [
      ...lines.map(([label, value]) => `${label.padEnd(14)} ${plain(value)}`),
      ...(rows.length > 0 ? ['', ...table] : []),
    ].join('\n'),
  };
});

const add: Command = {
  name: 'event-stream add',
  args: ['FILE'],
  summary: 'add an event stream from a YAML or JSON file; - reads standard input',
  details: `The file holds one entry of event_streams: as in the configuration file (docs/events.md), such as
{ id: hr, name: HR system, url: https://hr.example.com/events, events: [user.*] }. A webhook without a secret gets one, which is printed once.`,
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async (services) => {
      const { id, secret: given, ...declared } = await readStream(input.words[0] ?? '', io);
      const { stream, secret } = await services.eventStreams.create(declared, given, {}, { id });
      const isNew = given === undefined;
      if (input.flag('json')) io.json({ id: stream.id, name: stream.name, ...(isNew && { secret: secret ?? null }) });
      else {
        io.out(`Added the event stream ${plain(stream.name)}. It sends the events from now on.`);
        if (isNew && secret !== undefined) io.out(secretText(secret));
      }
      return 0;
    }),
};

const remove = command(
  'delete',
  'delete an event stream; what it did not send stays in the audit log',
  async ({ id, name }, { streams }) => {
    await streams.remove(id, {});
    return { json: { id, deleted: true }, text: `Deleted ${plain(name)}.` };
  },
);

const enable = stateCommand('enable', true, 'let an event stream send again, from where it stopped');
const disable = stateCommand('disable', false, 'stop an event stream; the events wait in the audit log');

const secret = command(
  'secret',
  'replace the secret of an event stream; prints a new one once',
  async ({ id, kind }, { streams, input, io }) => {
    const given = input.flag('secret-stdin') ? (await io.stdin()).trim() : undefined;
    if (given === undefined && kind === 'siem') throw new UsageError('a SIEM gives out its token: use --secret-stdin');
    const { secret: changed = '' } = await streams.changeSecret(id, given, {});
    return given === undefined
      ? { json: { id, secret: changed }, text: secretText(changed) }
      : { json: { id, secret: null }, text: 'The secret is stored.' };
  },
  {
    details: `${details} The old secret of a webhook signs beside the new one for seven days.`,
    options: {
      'secret-stdin': { type: 'boolean', help: 'read the secret, or the token of a SIEM, from standard input' },
    },
  },
);

const test = command(
  'test',
  'send a test event, and print the answer; the exit code is 1 if it was not taken',
  async ({ id, name }, { streams }) => {
    const json = await streams.test(id);
    const { ok, status, answer } = json;
    const what = plain(status === null ? answer : `status ${status}${answer && `: ${answer}`}`);
    return ok
      ? { json, text: `${plain(name)} took the test event (${what}).` }
      : { json, text: `${plain(name)} did not take the test event: ${what}`, isError: true };
  },
);

const resume = command('resume', 'send what waits at once, also after a pause', async ({ id, name }, { streams }) => ({
  json: (await jsonOf(streams))(await streams.resume(id, {})),
  text: `${plain(name)} goes on.`,
}));

const replay = command(
  'replay',
  'send the events of a time again, as long as the audit log has them',
  async ({ id, name }, { streams, input, now }) => {
    const [from, until] = [timeOption(input, 'from'), timeOption(input, 'until')];
    if (!from) throw new UsageError('--from is missing');
    const events = await streams.replay(id, { from, until: until ?? now }, {});
    const text = `${plain(name)} sends its events out of ${plural(events, 'event')} of the log again.`;
    return { json: { events }, text };
  },
  {
    details: `${details} The webhook-id is the same as before.`,
    options: {
      from: { type: 'string', value: 'TIME', help: 'the first moment, such as 2026-12-01T00:00:00Z' },
      until: { type: 'string', value: 'TIME', help: 'the end; default: now' },
    },
  },
);

const redeliver = command(
  'redeliver',
  'send a delivery again, also one that was given up',
  async ({ id, name }, { streams, input }) => {
    const [, delivery = ''] = input.words;
    await streams.redeliver(id, delivery);
    return { json: { id: delivery, redelivered: true }, text: `${plain(name)} gets ${plain(delivery)} again.` };
  },
  { args: ['STREAM', 'DELIVERY'], details: `${details} The command event-stream show prints the deliveries.` },
);

export const eventStreamCommands: readonly Command[] = [
  ...[list, show, add, remove, enable, disable, secret],
  ...[test, resume, replay, redeliver],
];

/** What a command prints: `json` with --json, else `text`. An error makes the exit code 1. */
interface Result {
  json: unknown;
  text: string;
  isError?: true;
}

interface Context {
  streams: EventStreamAdmin;
  input: Input;
  io: Io;
  now: Date;
}

/** A command on the stream that its first argument names. */
function command(
  verb: string,
  summary: string,
  work: (stream: EventStream, context: Context) => Promise<Result>,
  { options, ...more }: Pick<Command, 'args' | 'details' | 'options'> = {},
): Command {
  return {
    name: `event-stream ${verb}`,
    args: ['STREAM'],
    summary,
    details,
    ...more,
    options: { ...options, ...jsonOption },
    run: (input, io) =>
      withStreams(io, async (streams, now) => {
        const [word = ''] = input.words;
        const stream = (await streams.list()).find(({ id, name }) => id === word || name === word);
        if (!stream) {
          io.err(
            `There is no event stream "${plain(word)}". To see all event streams, run: gatehouse event-stream list`,
          );
          return 1;
        }
        const { json, text, isError } = await work(stream, { streams, input, io, now });
        if (input.flag('json')) io.json(json);
        else if (isError) io.err(text);
        else io.out(text);
        return isError ? 1 : 0;
      }),
  };
}

function stateCommand(verb: 'enable' | 'disable', enabled: boolean, summary: string): Command {
  return command(verb, summary, async ({ id, name }, { streams }) => ({
    json: (await jsonOf(streams))(await streams.update(id, { enabled }, {})),
    text: `${plain(name)} is ${verb}d.`,
  }));
}

function stateOf({ enabled, pausedAt, failingSince }: EventStream): string {
  if (!enabled) return 'disabled';
  if (pausedAt) return 'paused';
  return failingSince ? 'failing' : 'delivering';
}

const secretText = (secret: string) => `Secret: ${secret}\nCopy it now. You won't see it again.`;

/** What the API returns of a stream. */
const jsonOf = async (streams: EventStreamAdmin) =>
  (await import('../admin/event-streams/event-streams.ts')).eventStreamNoun(streams).json;

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

function withStreams(io: Io, work: (streams: EventStreamAdmin, now: Date) => Promise<number>): Promise<number> {
  return withServices(io, async (services) => {
    const { createEventStreamAdmin } = await import('../admin/event-streams/event-streams.ts');
    return work(createEventStreamAdmin(services), services.now());
  });
}
