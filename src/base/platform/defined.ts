// Members that may be undefined, for types in which an absent member is not an undefined one (exactOptionalPropertyTypes).

type Defined<Given> = { [Key in keyof Given as undefined extends Given[Key] ? never : Key]: Given[Key] } & {
  [Key in keyof Given as undefined extends Given[Key] ? Key : never]?: Exclude<Given[Key], undefined>;
};

/** The object without its members that are undefined. */
export const defined = <Given extends object>(given: Given): Defined<Given> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<Given>;
