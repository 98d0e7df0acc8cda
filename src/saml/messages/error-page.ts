// A rejected SAML message as an error page: the one place where a SamlError becomes an HTTP error.

import { AppError } from '../../http/errors.ts';
import { type PageText, t } from '../../texts/text.ts';
import { SamlError } from '../xml/errors.ts';

/**
 * The error for the error page; other errors than SamlError and AppError are returned unchanged.
 *
 * @param application name of the service provider, if it is known
 * @param rejectionCode code of the stored rejection, displayed on the page
 */
export function samlErrorPage(error: unknown, application?: PageText, rejectionCode?: string): unknown {
  if (error instanceof AppError && rejectionCode) {
    const { code, text: message, advice, detail, fields, next, technical } = error;
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
    message: application === undefined ? t('app-error.invalid') : t('app-error.invalid-from', { app: application }),
    advice:
      application === undefined ? t('error.saml_request_invalid.advice') : t('app-error.advice', { app: application }),
    technical: [
      { label: t('error-page.reason'), value: error.message },
      { label: t('error-page.saml-error'), value: error.code },
    ],
    detail: { saml: error.code, application: application?.toString(), detail: error.detail },
    cause: error,
    ...(rejectionCode && { rejectionCode }),
  });
}
