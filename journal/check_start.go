package journal

import "fmt"

// CheckStart refuses a start, with its defaults, that no store takes. It does not look at payloads,
// whose limit is an option of each [Journal].
func CheckStart(s *Start) error {
	if err := CheckName("workflow", s.Workflow); err != nil {
		return err
	}
	if err := CheckName("queue", s.Queue); err != nil {
		return err
	}
	if err := CheckKey("key", s.Key); err != nil {
		return err
	}
	if err := CheckLabels(s.Labels); err != nil {
		return err
	}
	if err := CheckText("trace", s.Trace, TraceBytesMax); err != nil {
		return err
	}
	if err := checkHeaders(s.Headers); err != nil {
		return err
	}
	if s.OnFailure != "" {
		if err := CheckName("workflow that is started on failure", s.OnFailure); err != nil {
			return err
		}
	}
	if len(s.Limits) > 0 {
		if err := CheckLimitNeeds(s.Limits); err != nil {
			return err
		}
	}
	if s.Timeout < 0 || s.Timeout > DelayMax {
		return fmt.Errorf("timeout %s: %w: it must be between 0 and %s", s.Timeout, ErrInvalid, DelayMax)
	}
	if s.Version < 1 {
		return fmt.Errorf("version %d of workflow %q: %w: versions start at 1", s.Version, s.Workflow, ErrInvalid)
	}
	if err := CheckPriority(s.Priority); err != nil {
		return err
	}
	if s.Reuse < ReuseReject || s.Reuse > ReuseAllowIfFailed {
		return fmt.Errorf("reuse policy %d: %w", s.Reuse, ErrInvalid)
	}
	if s.Delay < 0 || s.Delay > DelayMax {
		return fmt.Errorf("delay %s: %w: it must be between 0 and %s", s.Delay, ErrInvalid, DelayMax)
	}
	return nil
}
