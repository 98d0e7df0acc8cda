// What the mail about a new API key adds: a new password does not end the key.

/** The button and the advice. */
export function apiKeyAdvice(issuer: string) {
  return {
    action: { label: 'Review API keys', url: `${issuer}/admin/api-keys` },
    after: [
      'If this was you, ignore this email. If not, revoke the key there, reset your password, and tell your administrator.',
    ],
  };
}
