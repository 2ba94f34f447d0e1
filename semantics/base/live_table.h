// A table of objects by id, from which ended ones are retired: ids are never reused and ascend, and memory is
// proportional to the live objects. A page is freed when all of its objects are retired. Plain data: a copy is a copy
// of all objects. References stay valid until their object is retired. Limits: an object that outlives its page's
// others keeps the page.
#ifndef PALLADION_SEMANTICS_BASE_LIVE_TABLE_H_
#define PALLADION_SEMANTICS_BASE_LIVE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace palladion {

template <class Key, class T>
class LiveTable {
 public:
  LiveTable() = default;
  LiveTable(const LiveTable& other) { *this = other; }
  LiveTable& operator=(const LiveTable& other) {
    if (this == &other) return *this;
    pages_.clear();
    for (const std::unique_ptr<Page>& page : other.pages_) {
      pages_.push_back(page == nullptr ? nullptr : std::make_unique<Page>(*page));
    }
    first_page_ = other.first_page_, next_ = other.next_, live_ = other.live_;
    return *this;
  }
  LiveTable(LiveTable&&) = default;
  LiveTable& operator=(LiveTable&&) = default;
  ~LiveTable() = default;

  // The id that the next object gets.
  Key Next() const { return Key{static_cast<std::int32_t>(next_)}; }

  template <class... Args>
  T& Add(Args&&... args) {
    const std::size_t page = next_ / kPerPage - first_page_;
    // Not std::make_unique, which would write all of it; libc++ 13 has no std::make_unique_for_overwrite.
    if (page == pages_.size()) pages_.push_back(std::unique_ptr<Page>(new Page));
    ++pages_[page]->live;
    ++live_;
    return pages_[page]->entries[next_++ % kPerPage].emplace(std::forward<Args>(args)...);
  }

  // The next id has no object in this table: for tables that share their ids.
  void Skip() {
    const Key id = Next();
    Add();
    Retire(id);
  }

  // Of one that lives.
  T& operator[](Key id) { return *EntryOf(id); }
  const T& operator[](Key id) const { return *const_cast<LiveTable*>(this)->EntryOf(id); }

  bool Has(Key id) const { return id.valid() && Find(id) != nullptr; }
  const T* Find(Key id) const {                                    // nullptr: it is gone, or was never there
    const std::size_t page = id.index() / kPerPage - first_page_;  // of a page that is gone: far too great
    if (id.index() >= next_ || page >= pages_.size() || pages_[page] == nullptr) return nullptr;
    const std::optional<T>& entry = pages_[page]->entries[id.index() % kPerPage];
    return entry.has_value() ? &*entry : nullptr;
  }
  T* Find(Key id) { return const_cast<T*>(std::as_const(*this).Find(id)); }

  void Retire(Key id) {
    if (!Has(id)) return;
    std::unique_ptr<Page>& page = pages_[id.index() / kPerPage - first_page_];
    page->entries[id.index() % kPerPage].reset();
    --live_;
    const bool full = (id.index() / kPerPage + 1) * kPerPage <= next_;
    if (--page->live == 0 && full) page.reset();
    while (pages_.size() > 1 && pages_.front() == nullptr) pages_.pop_front(), ++first_page_;
  }

  std::size_t live() const { return live_; }
  std::size_t given() const { return next_; }  // ids so far

  // f(id, object) for each that lives, by id; f may retire the object that it is given.
  template <class F>
  void ForEach(const F& f) {
    for (std::size_t number = first_page_; number < first_page_ + pages_.size(); ++number) {
      for (std::size_t i = 0; i < kPerPage; ++i) {
        Page* const page = number < first_page_ ? nullptr : pages_[number - first_page_].get();
        if (page == nullptr) break;
        if (std::optional<T>& entry = page->entries[i]; entry.has_value()) {
          f(Key{static_cast<std::int32_t>(number * kPerPage + i)}, *entry);
        }
      }
    }
  }
  template <class F>
  void ForEach(const F& f) const {
    const_cast<LiveTable*>(this)->ForEach([&](Key id, T& object) { f(id, std::as_const(object)); });
  }

 private:
  static constexpr std::size_t kPerPage = 64;
  struct Page {
    std::array<std::optional<T>, kPerPage> entries;
    std::size_t live = 0;
  };
  std::optional<T>& EntryOf(Key id) {
    return pages_[id.index() / kPerPage - first_page_]->entries[id.index() % kPerPage];
  }

  std::deque<std::unique_ptr<Page>> pages_;  // nullptr: all of them are gone
  std::size_t first_page_ = 0;               // the number of the first of pages_
  std::size_t next_ = 0, live_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_LIVE_TABLE_H_
