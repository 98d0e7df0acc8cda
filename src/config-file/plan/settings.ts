// Plans settings and resources: the file's declarations against the stored ones.
import type { ApplicationServices } from '../../applications/application-services.ts';
import { isPicturePath, withStoredPictures } from '../../applications/brand/pictures.ts';
import {
  type Resource,
  removeDeclaredResource,
  resourceOf,
  storeDeclaredResource,
} from '../../applications/resources.ts';
import { unlistedAlgFault } from '../../applications/rules/signing-algorithms.ts';
import type { Tx } from '../../base/storage/database.ts';
import { at, fault } from '../../base/texts/faults.ts';
import { textFaults } from '../../base/texts/overrides.ts';
import type { Core } from '../../core/core.ts';
import {
  type SettingName,
  type Settings,
  type SettingValues,
  secretsOf,
  withoutSecrets,
} from '../../core/settings/settings.ts';
import { type DeclaredResource, type DeclaredSettings, resourceInput } from '../schema.ts';
import {
  differences,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  secretChange,
  secretSet,
  takeOver,
} from './steps.ts';

export async function planSettings(
  declaredSettings: DeclaredSettings,
  {
    settings,
    ...pictures
  }: Core &
    ApplicationServices & {
      /** A picture that the file names, as a data URL. */
      readImage(name: string): Promise<string>;
    },
  { hidesSecrets = false }: PlanOptions = {},
): Promise<Planned> {
  const plan = nothingPlanned();
  const { brandImages, readImage } = pictures;
  const {
    values: declared,
    images,
    faults,
  } = await withStoredPictures(declaredSettings, brandImages, new Set(), async (value) =>
    isPicturePath(value) ? readImage(value) : value,
  );
  plan.faults.push(...at(['settings'], faults));
  plan.faults.push(...at(['settings', 'texts'], textFaults(declared.texts ?? {}, (await settings.reload()).texts)));
  for (const { name, value, source } of await settings.list({ withSecrets: true })) {
    const wanted = declared[name];
    if (wanted === undefined) {
      // The file declared it before and does not any more: back to the default.
      if (source !== 'file') continue;
      const run = (tx: Parameters<Settings['unset']>[1]) => settings.unset(name, tx);
      plan.steps.push({ kind: 'delete', section: 'settings', name, fields: [], run });
      continue;
    }
    const isNew = source === 'default';
    const before = isNew ? undefined : value;
    const [stored, declaredSecrets] = [secretsOf(name, before), secretsOf(name, wanted)];
    const secrets = Object.keys({ ...stored, ...declaredSecrets }).flatMap((field) => {
      if (hidesSecrets && declaredSecrets[field] !== undefined) return [secretSet(field)];
      return stored[field] === declaredSecrets[field] ? [] : [secretChange(field)];
    });
    const fields = [
      ...differences({ value: withoutSecrets(name, before) }, { value: withoutSecrets(name, wanted) }),
      ...secrets,
      ...(isNew ? [] : takeOver(source)),
    ];
    if (fields.length === 0) plan.unchanged += 1;
    else {
      const run = async (tx: Tx) => {
        for (const { setting, image } of images) if (setting === name) await brandImages.save(tx, image);
        await settings.set<SettingName>(name, wanted as SettingValues[SettingName], { source: 'file', tx });
      };
      plan.steps.push({ kind: isNew ? 'create' : 'change', section: 'settings', name, fields, run });
    }
  }
  return plan;
}

/** The fields of an API by their names in the file; a tied scope only where there is one. */
function declaredFields({ scopes, scopePermissions = {}, signingAlg }: Partial<Resource>) {
  const tied = Object.keys(scopePermissions).length > 0 ? { scope_permissions: scopePermissions } : {};
  return signingAlg === undefined ? {} : { scopes, ...tied, signing_alg: signingAlg };
}

export async function planResources(
  declared: readonly DeclaredResource[],
  {
    db,
    now,
    applications,
    signingAlgs,
  }: Core &
    ApplicationServices & {
      /** The setting `signing_algorithms` once the file is applied. */
      signingAlgs: readonly string[];
    },
): Promise<Planned> {
  const plan = nothingPlanned();
  const stored = new Map((await db.asStored.resource.findMany()).map((row) => [row.identifier, row]));
  for (const [index, { identifier, ...entry }] of declared.entries()) {
    if (applications.isReserved(identifier)) plan.faults.push(fault(['resources', index, 'identifier'], 'reserved'));
    const row = stored.get(identifier);
    stored.delete(identifier);
    const before = row ? resourceOf(row) : {};
    const input = resourceInput(identifier, entry);
    const algFaults = unlistedAlgFault('signing_alg', input.signingAlg, signingAlgs, row?.signingAlg);
    plan.faults.push(...at(['resources', index], algFaults));
    const fields = [
      ...differences(declaredFields(before), declaredFields(input)),
      ...(row ? takeOver(row.source) : []),
    ];
    if (fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    plan.steps.push({
      kind: row ? 'change' : 'create',
      section: 'resources',
      name: identifier,
      fields,
      run: (tx) => storeDeclaredResource(tx, input, now()),
    });
  }
  for (const { identifier, source } of stored.values()) {
    if (source !== 'file') continue;
    plan.steps.push({
      kind: 'delete',
      section: 'resources',
      name: identifier,
      fields: [],
      run: (tx) => removeDeclaredResource(tx, identifier),
    });
  }
  return plan;
}
