// A state machine as a table: states x events -> next state, with a reasoned refusal for every empty cell. Pure.
// Invariant: the table is the only place that says what may follow what.

export type MoveTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

export type Move<State extends string> =
  | { readonly moved: true; readonly from: State; readonly to: State }
  | { readonly moved: false; readonly reason: string };

/** The state after `event`, or why that event means nothing in `state`. */
export function move<State extends string, Event extends string>(
  table: MoveTable<State, Event>,
  state: State,
  event: Event,
): Move<State> {
  const to: State | undefined = table[state][event];
  if (to === undefined) return { moved: false, reason: `${event} does not apply while ${state}` };
  return { moved: true, from: state, to };
}
