/** State machines as tables: a row for each state, with the events that it reacts to. */
import { type ReadonlySignal, signal } from '@preact/signals';

type AnyState = { readonly name: string };
type AnyEvent = { readonly type: string };

/** The next state for each state and event. A state ignores the events that are not in its row. */
export type Transitions<State extends AnyState, Event extends AnyEvent> = {
  readonly [N in State['name']]: {
    readonly [T in Event['type']]?: (state: Extract<State, { name: N }>, event: Extract<Event, { type: T }>) => State;
  };
};

export function nextState<State extends AnyState, Event extends AnyEvent>(
  transitions: Transitions<State, Event>,
  state: State,
  event: Event,
): State {
  const row: unknown = transitions[state.name as State['name']];
  return (row as Partial<Record<string, (state: State, event: Event) => State>>)[event.type]?.(state, event) ?? state;
}

export interface StateMachine<State, Event> {
  readonly state: ReadonlySignal<State>;
  send(event: Event): void;
}

/** `onTransition` starts what the new state needs, and stops what only the old one needed. */
export function createStateMachine<State extends AnyState, Event extends AnyEvent>(
  transitions: Transitions<State, Event>,
  initial: State,
  onTransition: (before: State, after: State) => void,
): StateMachine<State, Event> {
  const state = signal(initial);
  return {
    state,
    send(event) {
      const before = state.peek();
      const after = nextState(transitions, before, event);
      if (after === before) return;
      state.value = after;
      onTransition(before, after);
    },
  };
}
