// `gatehouse event-stream …`: where events of the audit log go.
import type { EventDelivery, EventStreamAdmin } from '../admin/event-streams/event-streams.ts';
import { plural } from '../base/platform/plural.ts';
import type { EventStream } from '../protocols/event-streams/streams.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io, plain } from './io.ts';

/** Deliveries that `show` prints. */
const SHOWN = 20;
const args = ['STREAM'];
const details = 'STREAM is the ID of the stream, or its name.';

const list: Command = {
  name: 'event-stream list',
  summary: 'list all event streams',
  options: jsonOption,
  run: (input, io) =>
    withStreams(io, async (streams) => {
      const all = await streams.list();
      if (input.flag('json')) io.json(await jsonOf(streams, all));
      else
        io.table(
          ['ID', 'NAME', 'KIND', 'STATE', 'LAST SUCCESS', 'SOURCE'],
          all.map((one) => [one.id, one.name, one.kind, stateOf(one), formatDate(one.lastSuccessAt), one.source]),
        );
      return 0;
    }),
};

const show: Command = {
  name: 'event-stream show',
  args,
  summary: 'show an event stream with its newest deliveries',
  details,
  options: jsonOption,
  run: (input, io) =>
    withStream(input, io, async (stream, streams) => {
      const { deliveryJson } = await import('../admin/event-streams/event-streams.ts');
      const deliveries = await streams.deliveries(stream.id, { limit: SHOWN });
      if (input.flag('json')) {
        const [json] = await jsonOf(streams, [stream]);
        io.json({ ...json, deliveries: deliveries.map(deliveryJson) });
        return 0;
      }
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
      for (const [label, value] of lines) io.out(`${label.padEnd(14)} ${plain(value)}`);
      if (deliveries.length === 0) return 0;
      io.out('');
      const eventOf = ({ type, seq, untilSeq }: EventDelivery) =>
        seq === untilSeq ? (type ?? '-') : `${seq} to ${untilSeq}`;
      io.table(
        ['DELIVERY', 'EVENT', 'STATE', 'TRIES', 'AT', 'ANSWER'],
        deliveries.map((one) => [
          ...[one.id, eventOf(one), one.state, String(one.tries)],
          ...[formatDate(one.createdAt), one.lastError ?? one.answer ?? '-'],
        ]),
      );
      return 0;
    }),
};

const add: Command = {
  name: 'event-stream add',
  args: ['FILE'],
  summary: 'add an event stream from a YAML or JSON file; - reads standard input',
  details: `The file holds one entry of event_streams: as in the configuration file (docs/events.md), such as
{ id: hr, name: HR system, url: https://hr.example.com/events, events: [user.*] }. A webhook without a secret gets one, which is printed once.`,
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async (services) => {
      const { secret: given, ...entry } = await readEntry(input.words[0] ?? '', io);
      const { secret_file: _, id, ...declared } = entry;
      const { stream, secret } = await services.eventStreams.create(declared, given, {}, { id });
      const isNew = given === undefined;
      if (input.flag('json')) io.json({ id: stream.id, name: stream.name, ...(isNew && { secret: secret ?? null }) });
      else {
        io.out(`Added the event stream ${plain(stream.name)}. It sends the events from now on.`);
        if (isNew && secret !== undefined) printSecret(secret, io);
      }
      return 0;
    }),
};

const remove: Command = {
  name: 'event-stream delete',
  args,
  summary: 'delete an event stream; what it did not send stays in the audit log',
  details,
  options: jsonOption,
  run: (input, io) =>
    withStream(input, io, async ({ id, name }, streams) => {
      await streams.remove(id, {});
      if (input.flag('json')) io.json({ id, deleted: true });
      else io.out(`Deleted ${plain(name)}.`);
      return 0;
    }),
};

const enable = stateCommand('enable', true, 'let an event stream send again, from where it stopped');
const disable = stateCommand('disable', false, 'stop an event stream; the events wait in the audit log');

const secret: Command = {
  name: 'event-stream secret',
  args,
  summary: 'replace the secret of an event stream; prints a new one once',
  details: `${details} The old secret of a webhook signs beside the new one for seven days.`,
  options: {
    'secret-stdin': { type: 'boolean', help: 'read the secret, or the token of a SIEM, from standard input' },
    ...jsonOption,
  },
  run: (input, io) =>
    withStream(input, io, async (stream, streams) => {
      const given = input.flag('secret-stdin') ? (await io.stdin()).trim() : undefined;
      if (given === undefined && stream.kind === 'siem')
        throw new UsageError('a SIEM gives out its token: use --secret-stdin');
      const { secret: changed = '' } = await streams.changeSecret(stream.id, given, {});
      if (input.flag('json')) io.json({ id: stream.id, secret: given === undefined ? changed : null });
      else if (given !== undefined) io.out('The secret is stored.');
      else printSecret(changed, io);
      return 0;
    }),
};

const test: Command = {
  name: 'event-stream test',
  args,
  summary: 'send a test event, and print the answer; the exit code is 1 if it was not taken',
  details,
  options: jsonOption,
  run: (input, io) =>
    withStream(input, io, async ({ id, name }, streams) => {
      const result = await streams.test(id);
      const { ok, status, answer } = result;
      const what = status === null ? answer : `status ${status}${answer && `: ${answer}`}`;
      if (input.flag('json')) io.json(result);
      else if (ok) io.out(`${plain(name)} took the test event (${plain(what)}).`);
      else io.err(`${plain(name)} did not take the test event: ${plain(what)}`);
      return ok ? 0 : 1;
    }),
};

const resume: Command = {
  name: 'event-stream resume',
  args,
  summary: 'send what waits at once, also after a pause',
  details,
  options: jsonOption,
  run: (input, io) =>
    withStream(input, io, async (stream, streams) => {
      const resumed = await streams.resume(stream.id, {});
      if (input.flag('json')) io.json((await jsonOf(streams, [resumed]))[0]);
      else io.out(`${plain(stream.name)} goes on.`);
      return 0;
    }),
};

const replay: Command = {
  name: 'event-stream replay',
  args,
  summary: 'send the events of a time again, as long as the audit log has them',
  details: `${details} The webhook-id is the same as before.`,
  options: {
    from: { type: 'string', value: 'TIME', help: 'the first moment, such as 2026-12-01T00:00:00Z' },
    until: { type: 'string', value: 'TIME', help: 'the end; default: now' },
    ...jsonOption,
  },
  run: (input, io) => {
    const [from, until] = [timeOf(input, 'from'), timeOf(input, 'until')];
    if (!from) throw new UsageError('--from is missing');
    return withStream(input, io, async ({ id, name }, streams, now) => {
      const events = await streams.replay(id, { from, until: until ?? now }, {});
      if (input.flag('json')) io.json({ events });
      else io.out(`${plain(name)} sends its events out of ${plural(events, 'event')} of the log again.`);
      return 0;
    });
  },
};

const redeliver: Command = {
  name: 'event-stream redeliver',
  args: ['STREAM', 'DELIVERY'],
  summary: 'send a delivery again, also one that was given up',
  details: `${details} The command event-stream show prints the deliveries.`,
  options: jsonOption,
  run: (input, io) =>
    withStream(input, io, async ({ id, name }, streams) => {
      const [, delivery = ''] = input.words;
      await streams.redeliver(id, delivery);
      if (input.flag('json')) io.json({ id: delivery, redelivered: true });
      else io.out(`${plain(name)} gets ${plain(delivery)} again.`);
      return 0;
    }),
};

export const eventStreamCommands: readonly Command[] = [
  ...[list, show, add, remove, enable, disable, secret],
  ...[test, resume, replay, redeliver],
];

function stateCommand(word: 'enable' | 'disable', enabled: boolean, summary: string): Command {
  return {
    name: `event-stream ${word}`,
    args,
    summary,
    details,
    options: jsonOption,
    run: (input, io) =>
      withStream(input, io, async ({ id, name }, streams) => {
        const changed = await streams.update(id, { enabled }, {});
        if (input.flag('json')) io.json((await jsonOf(streams, [changed]))[0]);
        else io.out(`${plain(name)} is ${word}d.`);
        return 0;
      }),
  };
}

function stateOf({ enabled, pausedAt, failingSince }: EventStream): string {
  if (!enabled) return 'disabled';
  if (pausedAt) return 'paused';
  return failingSince ? 'failing' : 'delivering';
}

function printSecret(text: string, io: Io): void {
  io.out(`Secret: ${text}`);
  io.out("Copy it now. You won't see it again.");
}

/** As the API has them. */
async function jsonOf(streams: EventStreamAdmin, all: readonly EventStream[]) {
  const { eventStreamNoun } = await import('../admin/event-streams/event-streams.ts');
  return all.map(eventStreamNoun(streams).json);
}

function timeOf(input: Input, option: 'from' | 'until'): Date | undefined {
  const text = input.text(option);
  const time = text === undefined ? undefined : new Date(text);
  if (time && Number.isNaN(time.getTime()))
    throw new UsageError(`--${option} must be a time, such as 2026-12-01T00:00:00Z`);
  return time;
}

/** Throws ConfigError. */
async function readEntry(file: string, io: Io) {
  const [{ readYaml }, { formatFault }, { readFile }, { check }, { ConfigError }, { eventStream }, rules] =
    await Promise.all([
      import('../config-file/yaml.ts'),
      import('../config-file/file.ts'),
      import('node:fs/promises'),
      import('../base/texts/faults.ts'),
      import('../base/config/config-error.ts'),
      import('../config-file/schema.ts'),
      import('../protocols/event-streams/streams.ts'),
    ]);
  const { content, faults, locate } = readYaml(file === '-' ? await io.stdin() : await readFile(file, 'utf8'));
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => formatFault(file, fault)));
  const checked = check(eventStream, content);
  if (!checked.ok) throw new ConfigError(locate(checked.faults).map((fault) => formatFault(file, fault)));
  const { secret_file: secretFile, secret: written } = checked.value;
  const secret = secretFile === undefined ? written : (await readFile(secretFile, 'utf8')).trim();
  const wrong = [
    ...rules.streamRules(checked.value),
    ...(secret === undefined ? [] : rules.secretFaults(checked.value, secret)),
  ];
  if (wrong.length > 0) throw new ConfigError(locate(wrong).map((fault) => formatFault(file, fault)));
  return { ...checked.value, secret };
}

function withStreams(io: Io, work: (streams: EventStreamAdmin, now: Date) => Promise<number>): Promise<number> {
  return withServices(io, async (services) => {
    const { createEventStreamAdmin } = await import('../admin/event-streams/event-streams.ts');
    return work(createEventStreamAdmin(services), services.now());
  });
}

function withStream(
  input: Input,
  io: Io,
  work: (stream: EventStream, streams: EventStreamAdmin, now: Date) => Promise<number>,
): Promise<number> {
  const [word = ''] = input.words;
  return withStreams(io, async (streams, now) => {
    const stream = (await streams.list()).find(({ id, name }) => id === word || name === word);
    if (stream) return work(stream, streams, now);
    io.err(`There is no event stream "${plain(word)}". To see all event streams, run: gatehouse event-stream list`);
    return 1;
  });
}
