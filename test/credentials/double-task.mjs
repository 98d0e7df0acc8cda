// A worker task for tests: doubles a number, throws for a negative one, and ends the thread for 99.
export function perform(task) {
  if (task < 0) throw new Error('negative');
  if (task === 99) process.exit(1);
  return task * 2;
}
