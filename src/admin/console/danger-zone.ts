// The danger zone of a page, and the form that deletes: what is deleted permanently is named by the administrator first. Only on
// pages: a request of the API names it in its path.

import { invalidInput } from '../../base/http/errors.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Block, Field } from './blocks.ts';

/** The last box of a page: what is hard to undo, each with its consequence. */
export function dangerZone(rows: Extract<Block, { kind: 'tasks' }>['rows']): Block {
  return { kind: 'tasks', title: t('console.shared.danger-zone'), isDanger: true, rows };
}

/** The same with the deletion of what the page at this path is about. */
export const deletionZone = (path: string, text: PageText, title?: PageText): Block =>
  dangerZone([
    {
      ...(title && { title }),
      text,
      action: { label: t('console.shared.delete'), href: `${path}/delete`, look: 'danger' },
    },
  ]);

/** The field for the name. */
export const TYPED_NAME = 'typed_name';

/** @param value as it was typed */
export function typedNameField(name: string, value = ''): Field {
  return { name: TYPED_NAME, label: t('console.shared.typed-name', { name }), value };
}

/** Throws unless the name was typed. Spaces count as a page displays them. */
export function assertTypedName(typed: string, name: string): void {
  if (plain(typed) === plain(name)) return;
  throw invalidInput([textFault([TYPED_NAME], t('console.shared.typed-name.wrong', { name }))]);
}

const plain = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ');
