// Which rules a workflow run decides by. A change of `step` that alters commands gets the next number here and branches
// on `state.rules`; a run keeps the rules it began with until it continues as new, so that its history still replays.
// `test/histories` holds a recorded history for each number.
//
//   1  the first

export const NEWEST_RULES = 1;
