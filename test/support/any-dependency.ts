// Stands for every dependency of a create function whose routes are listed and never called.
export const anyDependency: never = new Proxy(() => undefined, {
  get: (_target, key) => (key === Symbol.toPrimitive ? () => 'https://login.example.org' : anyDependency),
  apply: () => anyDependency,
}) as never;
