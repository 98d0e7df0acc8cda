// What administrators do with settings: what the file sets stays the file's, secrets go in and never out, and each change
// is audited with what was there before.
import type { Audit, By } from '../audit/audit.ts';
import { badRequest, forbidden } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { inNetworks } from '../platform/networks.ts';
import {
  type SettingEntry,
  type SettingName,
  type Settings,
  type SettingValues,
  secretsOf,
  settingNames,
  withoutSecrets,
} from '../settings.ts';
import { assertVersion, type Expected } from './versions.ts';

export interface SettingAdmin {
  list(): Promise<SettingEntry[]>;
  /** null takes a setting back to its default. A secret that is left out of a value stays as it is. */
  update(changes: SettingChanges, by: By, expected?: Expected): Promise<SettingEntry[]>;
}

export type SettingChanges = { [Name in SettingName]?: SettingValues[Name] | null };

const LOCK = 'lock:settings';

export function createSettingAdmin(needs: { db: Db; now: Clock; audit: Audit; settings: Settings }): SettingAdmin {
  const { db, now, audit, settings } = needs;

  async function change(name: SettingName, before: SettingEntry, value: unknown, by: By, tx: Tx): Promise<void> {
    if (before.source === 'file') {
      throw forbidden('owned_by_file', {
        message: `${name} is set in the configuration file and cannot be changed here.`,
      });
    }
    const kept = Object.entries(secretsOf(name, before.value)).filter(([, secret]) => secret !== undefined);
    const wanted = isGroup(value) ? { ...Object.fromEntries(kept), ...value } : value;
    if (JSON.stringify(wanted) === JSON.stringify(before.value)) return;
    if (wanted === null) await settings.unset(name, tx);
    else await settings.set<SettingName>(name, wanted as SettingValues[SettingName], { tx });
    const data = { setting: name, before: withoutSecrets(name, before.value), after: withoutSecrets(name, wanted) };
    await audit.record({ ...by, type: 'setting.changed', outcome: 'success', data }, tx);
  }

  return {
    list: () => settings.list(),

    async update(changes, by, expected = 'any') {
      refuseOwnAddress(changes, by);
      await transaction(db, async (tx) => {
        // One change at a time: the version that is compared is the one that is changed.
        const row = { value: '{}', updatedAt: now() };
        await tx.setting.upsert({ where: { key: LOCK }, create: { key: LOCK, ...row }, update: row });
        assertVersion(expected, await settings.list());
        const stored = await settings.list({ withSecrets: true });
        for (const name of settingNames) {
          const [value, before] = [changes[name], stored.find((entry) => entry.name === name)];
          if (value !== undefined && before) await change(name, before, value, by, tx);
        }
      });
      await settings.reload();
      return settings.list();
    },
  };
}

/** Who shuts out the address they are using would not get back in to undo it. */
function refuseOwnAddress({ denied_networks: networks }: SettingChanges, { request }: By): void {
  if (!networks || !request || !inNetworks(networks)(request.address)) return;
  const message = `holds ${request.address}, the address that you are using now`;
  throw badRequest('invalid_input', { fields: [{ field: 'denied_networks', message }] });
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
