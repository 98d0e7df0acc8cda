// An application as the audit log stores it: its declaration without secrets, and SAML metadata as a hash.
import { sha256 } from '../base/platform/random.ts';
import type { Application } from './application.ts';

type Declared = Record<string, unknown>;

/** The whole declaration. */
export function declarationForAudit({ name, consent, access, enabled, source, metadata }: Application): Declared {
  const xml = 'metadata_xml' in metadata ? metadata.metadata_xml : undefined;
  const document = xml === undefined ? {} : { metadata_xml: `${xml.length} characters, SHA-256 ${sha256(xml)}` };
  return { name, consent, access, enabled, source, ...metadata, ...document };
}

/** The fields that differ, before and after; null where one is absent. */
export function declarationDifference(before: Application, after: Application): { before: Declared; after: Declared } {
  const [from, to] = [declarationForAudit(before), declarationForAudit(after)];
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const changedFields = fields.filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]));
  const pick = (all: Declared) => Object.fromEntries(changedFields.map((field) => [field, all[field] ?? null]));
  return { before: pick(from), after: pick(to) };
}
