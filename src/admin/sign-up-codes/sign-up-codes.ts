// Sign-up codes, with which people sign up: created, listed and revoked. An administrator who may create one may also turn the demand
// for codes off (gatehouse.settings:write-security), so a code gives nobody more than the settings would.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { nameUpTo } from '../../base/schemas/line-schema.ts';
import { transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { NewSignUpCode, SignUpCode } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { jsonOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { createdAnswerOf, endpointsOf, type Resource } from '../resource.ts';

const { maxUses: MAX_USES, maxDays: MAX_DAYS, defaultDays } = limits.signUpCode;

/** `text` is readable only now. */
export type CreatedSignUpCode = { code: SignUpCode; text: string };

export type SignUpCodeAdmin = ReturnType<typeof createSignUpCodeAdmin>;

/** `create` and `revoke` throw StepUpNeeded. */
export function createSignUpCodeAdmin({ db, signUpCodes: codes }: AdminServices) {
  return {
    list: codes.list,
    get: codes.get,

    /** `onCreated` runs in the transaction. */
    create(code: NewSignUpCode, by: Actor, onCreated: OnCreated<CreatedSignUpCode> = async () => {}) {
      assertFreshProof(by, 'sign-up-code.create', code.name);
      return transaction(db, async (tx): Promise<CreatedSignUpCode> => {
        const made = await codes.create(code, by, tx);
        await onCreated(made, tx);
        return made;
      });
    },

    async revoke(id: string, by: Actor): Promise<SignUpCode> {
      assertFreshProof(by, 'sign-up-code.revoke', (await codes.get(id)).name);
      return codes.revoke(id, by);
    },
  };
}

const fields = {
  id: z.string(),
  name: z.string(),
  state: z.enum(['usable', 'used', 'expired']),
  max_uses: z.int().describe('How many accounts can be created with it'),
  uses: z.int(),
  source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
  created_by: z.string().nullable().describe('Id of the account; null: the command line or the configuration file'),
  created_at: time,
  expires_at: time.nullable(),
};
const schema = z.object(fields).meta({ id: 'SignUpCode' });

export const signUpCodeNoun = (codes: SignUpCodeAdmin): Resource<SignUpCode> => ({
  names: ['SignUpCode', 'SignUpCodes'],
  tag: 'Settings',
  api: '/sign-up-codes',
  home: '/admin/security/sign-up-codes',
  title: t('console.sign-up-codes.title'),
  nameOf: ({ name }) => name,
  read: ['gatehouse.settings:read'],
  write: ['gatehouse.settings:write-security'],
  keyOf: ({ id }) => id,
  get: (id) => codes.get(id),
  schema,
  json: (code) => jsonOf(schema, code, {}),
});

/** A new code. */
export const newCode = z.strictObject({
  name: nameUpTo(100, z.string().trim()),
  max_uses: z.int().min(1).max(MAX_USES).default(1),
  expires_in_days: z.int().min(1).max(MAX_DAYS).default(defaultDays),
});

/** /api/admin/sign-up-codes. */
export function signUpCodeEndpoints(codes: SignUpCodeAdmin): Endpoint[] {
  const noun = signUpCodeNoun(codes);
  const { list, create, get, remove } = endpointsOf(noun);
  return [
    list({
      summary: 'The sign-up codes, newest first',
      description: 'Expired ones are listed for 30 days, used ones until they expire.',
      response: z.object({ items: z.array(schema) }),
      handle: async () => ({ items: (await codes.list()).map(noun.json) }),
    }),
    create({
      summary: 'A new sign-up code',
      description: 'The settings self_registration and sign_up_code_required turn sign-up with codes on.',
      body: newCode,
      response: z
        .object({ ...fields, code: z.string().describe('The code; it is in this answer only') })
        .meta({ id: 'NewSignUpCode' }),
      run: ({ name, max_uses: maxUses, expires_in_days: days }, by, onCreated) =>
        codes.create({ name, maxUses, days }, by, onCreated),
      answer: ({ code, text }: CreatedSignUpCode) => createdAnswerOf(noun, code, { code: text }),
    }),
    get({ summary: 'One sign-up code' }),
    remove({
      verb: 'revoke',
      summary: 'Revokes the code: it creates no more accounts',
      description: 'Accounts that were created with it stay.',
      run: codes.revoke,
    }),
  ];
}
