// Stands for every dependency of a create function whose routes are listed and never called.

/** What a copy (`{ ...services, page }`) has. */
const copied =
  'admin oidc saml frame names findUser tickets testSp config logger now db sql vault audit settings csrf cookies metrics mfa accounts credentials consents sessions endSession rateLimits codeDelivery strengthMeter serviceNames notifyOwner pictures';

export const anyDependency: never = new Proxy(() => undefined, {
  get: (_target, key) => (key === Symbol.toPrimitive ? () => 'https://login.example.org' : anyDependency),
  apply: () => anyDependency,
  ownKeys: () => copied.split(' '),
  getOwnPropertyDescriptor: () => ({ value: anyDependency, enumerable: true, configurable: true }),
}) as never;
