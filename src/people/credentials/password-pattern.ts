// Whether a password is only a pattern: "aaaa…", "abcabcabc…", "123456789012…", "zyxwvu…". Pure.

const MAX_PATTERN_UNIT = 4;

export function isPattern(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  if (points.length < 4) return false;
  for (let unit = 1; unit <= Math.min(MAX_PATTERN_UNIT, points.length / 2); unit += 1) {
    if (points.every((point, index) => index < unit || point === points[index - unit])) return true;
  }
  return [1, -1].some((step) =>
    points.every((point, index) => index === 0 || point === following(points[index - 1] ?? 0, step)),
  );
}

function following(point: number, step: number): number {
  if (step === 1 && point === 0x39) return 0x30; // 9 is followed by 0
  if (step === -1 && point === 0x30) return 0x39;
  return point + step;
}
