// Members that may be undefined, for types in which an absent member is not an undefined one (exactOptionalPropertyTypes),
// and items that may be absent.

type Defined<Given> = { [Key in keyof Given as undefined extends Given[Key] ? never : Key]: Given[Key] } & {
  [Key in keyof Given as undefined extends Given[Key] ? Key : never]?: Exclude<Given[Key], undefined>;
};

/** The object without its members that are undefined. */
export const defined = <Given extends object>(given: Given): Defined<Given> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<Given>;

/**
 * The items that are there, for a list of which some depend on a condition: `present([first, isOpen && second, third?.name])`.
 * An empty text and 0 are values, and stay. Not for the cells of a row, where an absent one keeps its column (`tableOf`).
 */
export const present = <Item>(items: readonly (Item | false | null | undefined)[]): Item[] =>
  items.filter((item): item is Item => item !== false && item !== null && item !== undefined);
