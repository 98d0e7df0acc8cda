// A rejected SAML message as an error page: the one place where a SamlError becomes an HTTP error.
import { AppError } from '../../http/errors.ts';
import { SamlError } from '../xml/errors.ts';

/**
 * The error for the error page; other errors than SamlError and AppError are returned unchanged.
 *
 * @param application name of the service provider, if it is known
 * @param rejectionCode code of the stored rejection, displayed on the page
 */
export function samlErrorPage(error: unknown, application?: string, rejectionCode?: string): unknown {
  if (error instanceof AppError && rejectionCode) {
    const { code, message, advice, detail, fields, next, technical } = error;
    return new AppError(code, {
      message,
      detail,
      fields,
      technical,
      rejectionCode,
      ...(advice && { advice }),
      ...(next && { next }),
    });
  }
  if (!(error instanceof SamlError)) return error;
  return new AppError(error.httpStatus === 413 ? 'body_too_large' : 'saml_request_invalid', {
    message: `${application ?? 'The app'} sent an invalid request.`,
    advice: `Go back to ${application ?? 'the app'} and try again. If it happens again, contact its administrator.`,
    technical: [
      { label: 'Reason', value: error.message },
      { label: 'SAML error', value: error.code },
    ],
    detail: { saml: error.code, application, detail: error.detail },
    cause: error,
    ...(rejectionCode && { rejectionCode }),
  });
}
