// The fields of a tab, and the JSON merge patch that a sent form of it stands for.

import type { Application } from '../../../applications/application.ts';
import { badRequest } from '../../../base/http/errors.ts';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { applicationEntry } from '../../../config-file/export.ts';
import type { Field, FormSection } from '../../console/blocks.ts';
import { asTyped, type Sent, sentValue, untouched } from '../../console/row-buttons.ts';
import type { Declaration } from '../saml-declarations.ts';
import type { Values } from './keys.ts';
import { fixedKeys, profileChange } from './profile.ts';
import { METADATA_SOURCE } from './saml-source-keys.ts';
import type { KeySection } from './sections.ts';

/** The declaration, with the name also where it is the client_id. */
export function valuesOf(application: Application): Values {
  const entry = applicationEntry(application);
  return application.protocol === 'oidc' ? { ...entry, client_name: application.name } : entry;
}

/** The sections with their fields; with `sent`, as they were typed. `isLocked`: nothing may be changed. */
export function formSections(
  sections: readonly KeySection[],
  values: Values,
  { isLocked, sent }: { isLocked: boolean; sent?: Sent | undefined },
): FormSection[] {
  const locked = lockedKeys(values);
  return sections.map(({ keys, summary, ...section }) => {
    const fields = keys.flatMap((key) => {
      const reason = locked[key.key];
      return key.fields(values).map((field) => lockedField(field, isLocked, reason));
    });
    return {
      ...section,
      ...(summary && { summary: summary(values) }),
      fields: sent ? asTyped(fields, sent) : fields,
    };
  });
}

function lockedField(field: Field, isLocked: boolean, reason: PageText | undefined): Field {
  if (!isLocked && reason === undefined) return field;
  return { ...field, isLocked: true, ...(reason && { hint: reason }) };
}

/** Keys that another key decides, with the reason. */
function lockedKeys(values: Values): Record<string, PageText> {
  const fixed = fixedKeys(values).map((key) => [key, t('console.fields.profile.decides')]);
  return {
    ...(values.token_endpoint_auth_method === 'none' && {
      require_pkce: t('console.fields.pkce.always'),
    }),
    ...Object.fromEntries(fixed),
  };
}

/** JSON merge patch of the declaration: only what the form changes. Throws invalid_input. */
export function patchOf(application: Application, sections: readonly KeySection[], sent: Sent): Declaration {
  const values = valuesOf(application);
  const locked = lockedKeys(values);
  const keys = sections.flatMap((section) => section.keys).filter(({ key }) => locked[key] === undefined);
  const before = untouched(keys.flatMap((key) => key.fields(values)));
  const changed = keys
    .filter((key) => isSent(key.fields(values), sent))
    .map((key) => ({ key: key.key, old: key.read(before), value: key.read(sent) }))
    .filter(({ old, value }) => JSON.stringify(old) !== JSON.stringify(value));
  const patch = Object.fromEntries(changed.map(({ key, value }) => [key, replacement(values[key], value)]));
  if ('profile' in patch) Object.assign(patch, profileChange(patch.profile ?? undefined, values.profile));
  return { ...patch, ...sourcePatch(application, values, patch, sent) };
}

/** A browser sends nothing for a box that is not ticked; another field that is absent was not on the form. */
function isSent(fields: readonly Field[], sent: Sent): boolean {
  return fields.every(({ type, name, columns }) => {
    if (type === 'checkbox' || type === 'checks') return true;
    if (type !== 'rows') return sent[name] !== undefined;
    return (columns ?? []).some((column) => sent[column.name ? `${name}.${column.name}` : name] !== undefined);
  });
}

/** The value for a merge patch, which would keep the entries of a map that the new one lacks. */
function replacement(before: unknown, value: unknown): unknown {
  if (value === undefined) return null;
  if (!isMap(before) || !isMap(value)) return value;
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(value, name));
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...value };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const needed: Record<string, string> = { url: 'metadata_url', paste: 'metadata', hand: 'acs_url' };

/** What a service provider needs beside its chosen source of metadata. */
function sourcePatch(application: Application, values: Values, patch: Declaration, sent: Sent): Declaration {
  const source = sentValue(sent, METADATA_SOURCE) ?? '';
  const key = needed[source];
  if (application.protocol !== 'saml' || key === undefined) return {};
  const value = key in patch ? patch[key] : values[key];
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0))
    throw badRequest('invalid_input', { fields: [{ field: key, message: faultMessage('empty') }] });
  return source === 'hand' && values.acs_url === undefined ? { entity_id: application.clientId } : {};
}
