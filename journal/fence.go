package journal

// FenceChanceBits is how many of a fence's low bits are chance. The others count the claims.
const FenceChanceBits = 20

// FenceAtBirth is the fence of a run that a node owns from its start.
const FenceAtBirth Fence = 1 << FenceChanceBits

// Next returns the fence of the claim that follows f. It is larger than f whatever the chance is,
// so a later owner has the larger fence. The chance, of which the lowest FenceChanceBits bits
// count, is drawn for each claim: a store that went back in time counts again as it did before, and
// the fence that it gives out then is another one all the same.
//
// A closed run has no task, so fences of one that is opened again begin anew. Its generation is
// another one by then, and commits and loads compare that too.
func (f Fence) Next(chance uint32) Fence {
	return (f>>FenceChanceBits+1)<<FenceChanceBits | Fence(chance&(1<<FenceChanceBits-1))
}

// Count is how many claims the fence has seen.
func (f Fence) Count() int64 { return int64(f >> FenceChanceBits) }
