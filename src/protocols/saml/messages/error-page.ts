// A rejected SAML message as an error page: the one place where a SamlError becomes an HTTP error.

import { AppError } from '../../../base/http/errors.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { SamlError } from '../xml/errors.ts';

/**
 * The error for the error page; other errors than SamlError and AppError are returned unchanged.
 *
 * @param application name of the service provider, if it is known
 * @param rejectionCode code of the stored rejection, displayed on the page
 */
export function samlErrorPage(error: unknown, application?: PageText, rejectionCode?: string): unknown {
  const sentences =
    application === undefined
      ? { message: t('app-error.invalid'), advice: t('error.saml_request_invalid.advice') }
      : {
          message: t('app-error.invalid-from', { app: application }),
          advice: t('app-error.advice', { app: application }),
        };
  return errorPage(error, sentences, { rejectionCode, application: application?.toString() });
}

/** The same for a message of an identity provider. */
export function providerErrorPage(error: unknown, rejectionCode?: string): unknown {
  const message = t('app-error.invalid-from-provider');
  return errorPage(error, { message, advice: t('app-error.invalid-from-provider.advice') }, { rejectionCode });
}

function errorPage(
  error: unknown,
  sentences: { message: PageText; advice: PageText },
  { rejectionCode, application }: { rejectionCode: string | undefined; application?: string | undefined },
): unknown {
  if (error instanceof AppError && rejectionCode) {
    const { code, text: message, advice, detail, faults, next, technical } = error;
    return new AppError(code, {
      message,
      detail,
      faults,
      technical,
      rejectionCode,
      ...(advice && { advice }),
      ...(next && { next }),
    });
  }
  if (!(error instanceof SamlError)) return error;
  return new AppError(error.httpStatus === 413 ? 'body_too_large' : 'saml_request_invalid', {
    ...sentences,
    technical: [
      { label: t('error-page.reason'), value: error.message },
      { label: t('error-page.saml-error'), value: error.code },
    ],
    detail: { saml: error.code, application, detail: error.detail },
    cause: error,
    ...(rejectionCode && { rejectionCode }),
  });
}
