// The pictures of people: uploaded here and served from here, so that no page tells another server who looks at whom. The claim `picture` is
// the address, whose last part is a hash over the account and the content: nobody can guess it or tell from it who has an account, and the
// MAC of the account covers it.

import { createHash } from 'node:crypto';
import { AppError, invalidInput } from '../../base/http/errors.ts';
import { PERSON_PICTURE_PATH, pictureOf } from '../../base/http/pages/tokens.ts';
import { type Tx, withinTransaction } from '../../base/storage/database.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { ownedUser } from './account.ts';
import type { Accounts } from './accounts.ts';

/** Checks a picture and writes it again. */
export type CheckImage = (bytes: Buffer) => Promise<{ name: string; bytes: Buffer }>;

/** SVG is a document, not a picture of a person. */
const KINDS = ['png', 'jpg'];

export function createPersonPictures(services: Core & { accounts: Accounts; checkImage: CheckImage }) {
  const { db, config, accounts, checkImage } = services;
  return {
    /** Replaces the picture. Throws invalid_input with a fault of the field `picture`. */
    async set(id: string, bytes: Buffer, by: Actor, outer?: Tx): Promise<void> {
      const image = await checked(checkImage, bytes);
      const content = new Uint8Array(image.bytes);
      const name = `${hashOf(id, content)}.${image.kind}`;
      await withinTransaction(db, outer, async (tx) => {
        const before = await accounts.find(id, tx);
        if (before?.source === 'file') throw ownedUser(before);
        await accounts.update(id, { picture: `${config.issuer}${PERSON_PICTURE_PATH}${name}` }, by, tx);
        const row = { name, content };
        const where = { userId: id };
        await tx.userPicture.upsert({ where, create: { ...row, ...where }, update: row, select: { name: true } });
      });
    },

    /** The content of `<hash>.<kind>`; undefined for one that no account has, and for one that another program wrote. */
    async read(name: string): Promise<Buffer | undefined> {
      const row = await db.userPicture.findUnique({ where: { name } });
      if (!row) return undefined;
      const account = await accounts.find(row.userId);
      const isGenuine =
        account !== undefined &&
        pictureOf(account) === `${PERSON_PICTURE_PATH}${name}` &&
        name.startsWith(hashOf(row.userId, row.content));
      return isGenuine ? Buffer.from(row.content) : undefined;
    },
  };
}

/** The id makes it impossible to find out who has a picture that is known elsewhere. */
const hashOf = (id: string, content: Uint8Array): string =>
  createHash('sha256').update(`${id}\n`).update(content).digest('hex').slice(0, 32);

async function checked(checkImage: CheckImage, bytes: Buffer): Promise<{ kind: string; bytes: Buffer }> {
  const path = ['picture'];
  try {
    const { name, bytes: content } = await checkImage(bytes);
    const kind = name.slice(name.indexOf('.') + 1);
    if (KINDS.includes(kind)) return { kind, bytes: content };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    const isLarge = error.faults.some(({ code }) => code === 'picture-size' || code === 'picture-pixels');
    const text = isLarge ? t('picture.too-large') : t('picture.kind');
    throw invalidInput([textFault(path, text)], error);
  }
  throw invalidInput([textFault(path, t('picture.kind'))]);
}
