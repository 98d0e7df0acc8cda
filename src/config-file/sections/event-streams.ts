// `event_streams`: where events of the audit log go.

import { at, type Fault, fault, textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import {
  changeFaults,
  declarationOf,
  type EventStreams,
  isSigned,
  secretFaults,
} from '../../protocols/event-streams/streams.ts';
import {
  changeOfSecret,
  declaredSecret,
  differences,
  type Planned,
  type Planning,
  planEntries,
  unknownGroups,
} from '../planning.ts';
import { eventStream, withoutDefaults } from '../schema.ts';

const FILE = { source: 'file' } as const;

export async function planEventStreams(planning: Planning): Promise<Planned> {
  const { eventStreams, declared } = planning;
  const stored = await eventStreams.list();
  const isTaken = (id: string, name: string) =>
    declared.event_streams.some((one) => one.id !== id && one.name === name) ||
    stored.some((one) => one.id !== id && one.name === name && one.source === 'local');

  return planEntries({
    section: 'event_streams',
    declared: declared.event_streams,
    stored: new Map(stored.map((stream) => [stream.id, stream])),
    nameOf: ({ id }) => id,
    async compare({ id, secret: given, secret_file, ...wanted }, take) {
      const before = take(id);
      const { secret, faults } = await declaredSecret(planning, { value: given, file: secret_file }, ['secret_file']);
      if (faults.length > 0) return { name: id, faults };
      const isStored = async () => (await eventStreams.secrets(id))[0] === secret;
      const changesSecret = await changeOfSecret(planning, 'secret', secret, before && isStored);
      const newSecret = before && isSigned(before) && changesSecret.length === 0 ? undefined : secret;
      const keyOfSecret = secret_file === undefined ? 'secret' : 'secret_file';
      const wrong: Fault[] = [
        ...at([keyOfSecret], secret === undefined ? [] : secretFaults(wanted, secret)),
        ...(before ? changeFaults(before, wanted, newSecret) : []),
        // Nobody could read one that is made here.
        ...(!before && secret === undefined && isSigned(wanted) ? [fault(['secret'], 'empty')] : []),
        ...unknownGroups(wanted.groups, planning, ['groups']),
        ...(isTaken(id, wanted.name) ? [textFault(['name'], t('console.event-streams.error.taken'))] : []),
      ];
      if (wrong.length > 0) return { name: id, faults: wrong };
      return {
        name: id,
        fields: [...differences(before ? declarationOf(before) : {}, wanted), ...changesSecret],
        async store(tx) {
          if (!before) return void (await eventStreams.create(wanted, secret, {}, { ...FILE, id, tx }));
          if (changesSecret.length > 0) await eventStreams.changeSecret(id, secret, {}, { ...FILE, tx });
          await eventStreams.update(id, wanted, {}, { ...FILE, tx, secret });
        },
      };
    },
    remove: ({ id }, tx) => eventStreams.remove(id, {}, { ...FILE, tx }),
  });
}

/** Without the secrets. */
export async function exportEventStreams({ eventStreams }: { eventStreams: EventStreams }) {
  // Receivers of shared signals declare their own streams.
  const streams = (await eventStreams.list()).filter(({ kind }) => kind !== 'ssf');
  return streams.map((stream) => {
    const { name, kind, url, events, at_least, within_minutes, quiet_minutes, ...rest } = declarationOf(stream);
    const ofAlert = kind === 'alert' && { at_least, within_minutes, quiet_minutes };
    const defaults = eventStream.parse({ id: stream.id, name, url });
    return { id: stream.id, name, kind, url, events, ...withoutDefaults(rest, defaults), ...ofAlert };
  });
}
