// The steps of the last logout in the demo, for its page. The applications report their steps; those of the two servers are read
// from their audit log.

export interface Step {
  at: Date;
  place: string;
  text: string;
}

export type LogoutSteps = ReturnType<typeof createLogoutSteps>;

export function createLogoutSteps() {
  let steps: Step[] = [];
  const add = (place: string, text: string, at = new Date()) => {
    steps.push({ at, place, text });
  };
  return {
    /** Starts with the button in an application; deletes the steps of the previous logout. */
    begin(place: string, text: string): void {
      steps = [];
      add(place, text);
    },
    add(place: string, text: string, at?: Date): void {
      // A second step of the same party belongs to a new logout, which was started on a page of the server.
      if (steps.some((step) => step.place === place)) steps = [];
      add(place, text, at);
    },
    /** The steps of the last logout, oldest first. */
    last: (): Step[] => steps.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
  };
}

/** Reads lines of a server's log (LOG_FORMAT=json), and adds a step for each session that it ends. */
export function readSessionEnds(steps: LogoutSteps, place: string, text: string): (line: string) => void {
  return (line) => {
    if (!line.includes('audit session.ended success')) return;
    const { time } = JSON.parse(line) as { time: string | number };
    steps.add(place, text, new Date(time));
  };
}
