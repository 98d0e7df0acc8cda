// Changes of settings: those of the configuration file are read-only, secrets are written and never read back, and each
// change is audited with the value before and after.

import { pictureNames, withStoredPictures } from '../../applications/brand/pictures.ts';
import { forbidden, invalidInput } from '../../base/http/errors.ts';
import { inNetworks } from '../../base/network/networks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { at, fault } from '../../base/texts/faults.ts';
import { differingTexts, type TextValues, textFaults } from '../../base/texts/overrides.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import {
  type SettingEntry,
  type SettingName,
  type SettingValues,
  settingNames,
  withoutSecrets,
  withStoredSecrets,
} from '../../core/settings/settings.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import type { AdminServices } from '../admin-services.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { settingPermission } from './setting-tabs.ts';

const MAX_FAULTS = 20;

export type SettingAdmin = ReturnType<typeof createSettingAdmin>;

export type SettingChanges = { [Name in SettingName]?: SettingValues[Name] | null };

/** Changes throw StepUpNeeded, forbidden, owned_by_file for a setting of the configuration file, and precondition_failed for another version. */
export function createSettingAdmin(services: AdminServices) {
  const { db, audit, settings, authority, brandImages, inactivity } = services;

  async function change(name: SettingName, before: SettingEntry, value: unknown, by: Actor, tx: Tx): Promise<void> {
    if (before.source === 'file') {
      throw forbidden('owned_by_file', {
        message: t('console.settings.in-file', { name }),
      });
    }
    const after = withStoredSecrets(name, before.value, value);
    if (JSON.stringify(after) === JSON.stringify(before.value)) return;
    if (name === 'mail_server') assertPassword(after as SettingValues['mail_server'] | null);
    assertFreshProof(by, 'settings.change');
    if (after === null) await settings.unset(name, tx);
    else await settings.set<SettingName>(name, after as SettingValues[SettingName], { tx });
    const data = name === 'texts' ? changedTexts(before.value, after) : valuesForAudit(name, before.value, after);
    await audit.record({ ...by, type: 'setting.changed', outcome: 'success', data: { setting: name, ...data } }, tx);
  }

  return {
    list: (): Promise<SettingEntry[]> => settings.list(),

    /** Lets so many unused accounts be warned and disabled as the last run found. */
    async approveUnused(by: Actor): Promise<void> {
      await assertMayChange(authority, 'inactive_after_days', by);
      assertFreshProof(by, 'settings.change');
      await inactivity.approve(by);
    },

    /** null resets a setting to its default. A secret that is left out of a value stays, unless its URL has another origin. */
    async update(wanted: SettingChanges, by: Actor, expected: Expected = 'any'): Promise<SettingEntry[]> {
      // Also for a value that is the stored one: the answer must not tell whether a guessed secret is right.
      for (const name of settingNames) if (wanted[name] !== undefined) await assertMayChange(authority, name, by);
      assertOwnAddressAllowed(wanted, by);
      assertUsableTexts(wanted, await settings.get('texts'));
      const {
        values: changes,
        images,
        faults,
      } = await withStoredPictures(wanted, brandImages, pictureNames(await settings.reload()));
      if (faults.length > 0) throw invalidInput(faults);
      await transaction(db, async (tx) => {
        // A lock: the version that is compared must be the one that is changed.
        await settings.lock(tx);
        assertVersion(expected, await settings.list());
        for (const { image } of images) await brandImages.save(tx, image);
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

const valuesForAudit = (name: SettingName, before: unknown, after: unknown) => ({
  before: withoutSecrets(name, before),
  after: withoutSecrets(name, after),
});

/** Only the texts that differ: all of them are too many for each entry. */
function changedTexts(before: unknown, after: unknown) {
  const [old, now] = [(before ?? {}) as TextValues, (after ?? {}) as TextValues];
  return { before: differingTexts(old, now), after: differingTexts(now, old) };
}

function assertUsableTexts({ texts }: SettingChanges, before: TextValues): void {
  const faults = textFaults(texts ?? {}, before).slice(0, MAX_FAULTS);
  if (faults.length > 0) throw invalidInput(at(['texts'], faults));
}

/** A server with a user name and without the password rejects all mail. The configuration file may leave it out (config-file/export.ts). */
function assertPassword(server: SettingValues['mail_server'] | null): void {
  if (server?.username === undefined || server.password !== undefined) return;
  throw invalidInput([fault(['mail_server', 'password'], 'mail-password')]);
}

async function assertMayChange(authority: Authority, name: SettingName, by: Actor) {
  const permission = settingPermission(name);
  if ((await authority.extent(by, permission)) === 'all') return;
  throw forbidden('forbidden', {
    message: t('console.settings.missing-permission', { name, permission }),
    detail: { missing: permission },
  });
}

/** An administrator who denies their own address could not undo it. */
function assertOwnAddressAllowed({ denied_networks: networks }: SettingChanges, { request }: Actor): void {
  if (!networks || !request || !inNetworks(networks)(request.address)) return;
  throw invalidInput([fault(['denied_networks'], 'own-address', { address: request.address })]);
}
