// Errors of SCIM requests (RFC 7644 3.12): those of the whole server, with the word of SCIM for what is wrong.
import { type AppError, badRequest, conflict } from '../../base/http/errors.ts';
import { isUniqueConstraintError } from '../../base/storage/database.ts';
import { faultLine } from '../../base/texts/faults.ts';
import { ERROR } from './schemas.ts';

export type ScimType =
  | ('invalidFilter' | 'tooMany' | 'uniqueness' | 'mutability' | 'invalidSyntax' | 'invalidPath' | 'noTarget')
  | ('invalidValue' | 'invalidVers' | 'sensitive' | 'invalidCursor' | 'invalidCount');

/** 400. @param message for the administrator of the client */
export function scimError(scimType: ScimType, message: string): AppError {
  return badRequest('bad_request', { message, detail: { scimType } });
}

/** What a unique constraint that was broken means; throws every other error as it is. */
export const externalIdTaken =
  (what: 'user' | 'group') =>
  (error: unknown): never => {
    if (!isUniqueConstraintError(error)) throw error;
    throw conflict('conflict', { message: `Another ${what} has this externalId.`, cause: error });
  };

/** The error as SCIM clients read it. */
export function errorJson(error: AppError) {
  const { status, faults } = error;
  const scimType = scimTypeOf(error);
  const detail = [error.message, ...faults.map(faultLine)].join(' ');
  return { schemas: [ERROR], status: String(status), ...(scimType && { scimType }), detail };
}

export function scimTypeOf({ status, code, detail }: AppError): ScimType | undefined {
  const own = typeof detail === 'object' && detail !== null && 'scimType' in detail ? detail.scimType : undefined;
  if (own !== undefined) return own as ScimType;
  if (status === 409) return 'uniqueness';
  if (code === 'invalid_input') return 'invalidValue';
  return code === 'malformed_body' || code === 'bad_request' ? 'invalidSyntax' : undefined;
}
