/** Something that a test waits for, instead of a time: `happened` resolves after so many calls of `happen`. */
export function event(times = 1): { happen(): void; happened: Promise<void> } {
  let resolve = () => {};
  let missing = times;
  const happened = new Promise<void>((done) => {
    resolve = done;
  });
  const happen = () => {
    missing -= 1;
    if (missing === 0) resolve();
  };
  return { happen, happened };
}
