// /api/admin/sign-up-codes: the codes with which people sign up.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { nameUpTo } from '../../base/platform/line-schema.ts';
import type { SignUpCode } from '../../people/sign-up-codes/sign-up-codes.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, iso, time } from '../api/parts.ts';
import type { CreatedSignUpCode, SignUpCodeAdmin } from './actions.ts';

const tag = 'Settings';
const { maxUses: MAX_USES, maxDays: MAX_DAYS } = limits.signUpCode;
const READ = ['gatehouse.settings:read'] as const;
const WRITE = ['gatehouse.settings:write-security'] as const;

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
const signUpCode = z.object(fields).meta({ id: 'SignUpCode' });
const newSignUpCode = z
  .object({ ...fields, code: z.string().describe('The code; it is in this answer only') })
  .meta({ id: 'NewSignUpCode' });

/** /sign-up-codes. */
export function signUpCodeEndpoints(codes: SignUpCodeAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/sign-up-codes',
      operationId: 'listSignUpCodes',
      tag,
      needs: READ,
      summary: 'The sign-up codes, newest first',
      description: 'Expired ones are listed for 30 days, used ones until they expire.',
      response: z.object({ items: z.array(signUpCode) }),
      handle: async () => ({ body: { items: (await codes.list()).map(codeJson) } }),
    }),
    endpoint({
      method: 'post',
      path: '/sign-up-codes',
      operationId: 'createSignUpCode',
      tag,
      needs: WRITE,
      summary: 'A new sign-up code',
      description: 'The settings self_registration and sign_up_code_required turn sign-up with codes on.',
      body: z.strictObject({
        name: nameUpTo(100, z.string().trim()),
        max_uses: z.int().min(1).max(MAX_USES).default(1),
        expires_in_days: z.int().min(1).max(MAX_DAYS).default(limits.signUpCode.defaultDays),
      }),
      response: newSignUpCode,
      status: 201,
      idempotent: true,
      async handle({ body: { name, max_uses: maxUses, expires_in_days: days }, by, record }) {
        return created(await codes.create({ name, maxUses, days }, by, (made, tx) => record(created(made), tx)));
      },
    }),
    endpoint({
      method: 'get',
      path: '/sign-up-codes/{id}',
      operationId: 'getSignUpCode',
      tag,
      needs: READ,
      summary: 'One sign-up code',
      params: byId,
      response: signUpCode,
      handle: async ({ params }) => ({ body: codeJson(await codes.get(params.id)) }),
    }),
    endpoint({
      method: 'delete',
      path: '/sign-up-codes/{id}',
      operationId: 'revokeSignUpCode',
      tag,
      needs: WRITE,
      summary: 'Revokes the code: it creates no more accounts',
      description: 'Accounts that were created with it stay.',
      params: byId,
      status: 204,
      handle: async ({ params, by }) => void (await codes.revoke(params.id, by)),
    }),
  ];
}

function created({ code, text }: CreatedSignUpCode) {
  return { body: { ...codeJson(code), code: text }, location: `/sign-up-codes/${code.id}` };
}

function codeJson({ id, name, state, maxUses, uses, source, createdBy, createdAt, expiresAt }: SignUpCode) {
  return {
    id,
    name,
    state,
    max_uses: maxUses,
    uses,
    source,
    created_by: createdBy,
    created_at: iso(createdAt),
    expires_at: iso(expiresAt),
  };
}
