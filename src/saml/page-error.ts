// A refused SAML message as a page: the one place where SAML reasons become HTTP. Nothing is signed, nothing stored.
import { AppError } from '../http/errors.ts';
import { SamlError } from './errors.ts';

/** `application`: the name of the service provider, once it is known. */
export function asPage(error: unknown, application?: string, refusal?: string): unknown {
  if (error instanceof AppError && refusal) {
    const { code, message, advice, detail, fields, next } = error;
    return new AppError(code, { message, detail, fields, refusal, ...(advice && { advice }), ...(next && { next }) });
  }
  if (!(error instanceof SamlError)) return error;
  const who = application ?? 'the application that sent you here';
  return new AppError(error.httpStatus === 413 ? 'body_too_large' : 'saml_request_invalid', {
    message: error.message,
    advice: `Go back to ${who} and try again; if it happens again, tell its administrator: ${error.code}.`,
    detail: { saml: error.code, application, detail: error.detail },
    cause: error,
    ...(refusal && { refusal }),
  });
}
