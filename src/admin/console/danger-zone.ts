// The danger zone of a page, and the form that deletes: what is deleted permanently is named by the administrator first. Only on
// pages: a request of the API names it in its path.

import type { Context } from '../../base/http/context.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { readForm } from '../../base/http/input.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Block, Field, FormBlock } from './blocks.ts';

/** The last box of a page: what is hard to undo, each with its consequence. */
export function dangerZone(rows: Extract<Block, { kind: 'tasks' }>['rows']): Block {
  return { kind: 'tasks', title: t('console.shared.danger-zone'), isDanger: true, rows };
}

/** The field for the name. */
export const TYPED_NAME = 'typed_name';

/** @param value as it was typed */
export function typedNameField(name: string, value = ''): Field {
  return { name: TYPED_NAME, label: t('console.shared.typed-name', { name }), value };
}

export interface Deletion {
  /** The page of what is deleted. */
  at: string;
  name: string;
  /** The consequence. */
  lead: PageText;
  /** Further fields. */
  fields?: readonly Field[];
  /** Where Cancel leads; `at` by default. */
  cancel?: string;
  /** As it was typed, after a fault. */
  typed?: string | undefined;
}

/** The form of a page that asks before something is deleted. */
export function deletionForm({ at, name, lead, fields = [], cancel = at, typed }: Deletion): FormBlock {
  return {
    kind: 'form',
    lead,
    action: `${at}/delete`,
    look: 'danger',
    cancel,
    fields: [...fields, typedNameField(name, typed)],
    button: t('console.shared.delete-name', { name }),
  };
}

/** Of the form that was sent. */
export async function readTypedName(ctx: Context): Promise<string> {
  const { [TYPED_NAME]: typed } = await readForm(ctx);
  return typeof typed === 'string' ? typed : '';
}

/** Throws unless the name was typed. Spaces count as a page displays them. */
export function assertTypedName(typed: string, name: string): void {
  if (plain(typed) === plain(name)) return;
  throw invalidInput([textFault([TYPED_NAME], t('console.shared.typed-name.wrong', { name }))]);
}

const plain = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ');
